import { badRequest } from '../../core/errors.ts'
import { PIXELS_MAX, openImage } from '../resources/image.ts'

/** Picture formats with the bytes that they begin with. The decoder never sees other files. */
const KINDS = [
  { extension: 'png', formats: ['png'], pattern: /^\x89PNG\r\n\x1a\n/ }, // eslint-disable-line no-control-regex
  { extension: 'jpg', formats: ['jpeg'], pattern: /^\xff\xd8\xff/ },
  { extension: 'webp', formats: ['webp'], pattern: /^RIFF....WEBP/s },
  { extension: 'gif', formats: ['gif'], pattern: /^GIF8[79]a/ },
  { extension: 'avif', formats: ['heif', 'avif'], pattern: /^....ftypavi[fs]/s },
  { extension: 'tiff', formats: ['tiff'], pattern: /^(?:II\*\0|MM\0\*)/ },
  { extension: 'bmp', formats: [], pattern: /^BM.{12}[\x28\x34\x38\x6c\x7c]\0\0\0/s }
] as const
const BMP_SIZE = { width: 18, height: 22, end: 26 }

const refused = (name: string, reason: string) =>
  badRequest(`The picture '${name}' ${reason}; send a PNG, JPEG, WebP, GIF, AVIF, BMP or TIFF picture`)

interface Picture { path: string, head: Buffer, name: string }

async function readSize ({ path, head, name }: Picture, formats: readonly string[]) {
  if (formats.length === 0) {
    if (head.length < BMP_SIZE.end) throw refused(name, 'ends too early')
    return { width: Math.abs(head.readInt32LE(BMP_SIZE.width)), height: Math.abs(head.readInt32LE(BMP_SIZE.height)) }
  }
  const { format, width, height } = await (await openImage(path)).metadata().catch((err: unknown) => {
    throw refused(name, `cannot be read (${err instanceof Error ? err.message.slice(0, 200) : String(err)})`)
  })
  if (!formats.includes(format)) throw refused(name, `is a ${format} file by its content`)
  return { width, height }
}

/** Returns the extension that fits the content of a picture, whatever its name says. @throws ApiError BAD_REQUEST */
export async function readPicture (picture: Picture): Promise<string> {
  const begin = picture.head.toString('latin1', 0, 32)
  const kind = KINDS.find(({ pattern }) => pattern.test(begin))
  if (kind === undefined) throw refused(picture.name, 'is not a picture')
  const { width, height } = await readSize(picture, kind.formats)
  if (width * height > PIXELS_MAX) throw refused(picture.name, `has ${width} × ${height} pixels, more than 50 million`)
  return kind.extension
}
