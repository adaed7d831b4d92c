import type { FileHandle } from 'node:fs/promises'
import type { PassThrough, Readable } from 'node:stream'
import { ZipFile } from 'yazl'

/** One entry of a zip: a file that is opened when its turn comes, or text. */
export interface ZipEntry {
  /** With forward slashes. */
  name: string
  content: { size: number, mtime: Date, open: () => Promise<FileHandle> } | string
}

export interface Zip {
  /** Bytes. */
  size: number
  /** Destroying it closes the file that is being read. */
  stream: Readable
}

type CreateStream = (handle: FileHandle, start: number, length: number) => Readable

const STORED = { compress: false }

/** Nothing in a name may look like an absolute path or a way out when the zip is unpacked elsewhere. */
export function toEntryName (path: string): string {
  const name = path.replaceAll('\\', '_').split('/').filter((part) => part !== '' && part !== '.' && part !== '..').join('/')
  return name.replace(/^([a-z]):/i, '$1_')
}

/**
 * A zip of stored entries. Files are read one at a time while the stream is read; the size is known at once.
 *
 * @param createStream a part of an open file as a stream that closes it
 */
export function createZip (entries: readonly ZipEntry[], createStream: CreateStream): Zip {
  const zip = new ZipFile()
  const output = zip.outputStream as PassThrough
  let current: Readable | null = null
  zip.on('error', (err: Error) => { output.destroy(err) })
  output.on('close', () => { current?.destroy() })

  async function openEntry (size: number, open: () => Promise<FileHandle>): Promise<Readable> {
    const handle = await open()
    const { size: found } = await handle.stat()
    const stream = createStream(handle, 0, size)
    if (output.destroyed) stream.destroy()
    if (found !== size) {
      stream.destroy()
      throw new Error(`A file of ${size} bytes has ${found} now; it was changed while the zip was sent`)
    }
    stream.on('error', (err) => { zip.emit('error', err) })
    current = stream
    return stream
  }

  for (const { name, content } of entries) {
    if (typeof content === 'string') {
      zip.addBuffer(Buffer.from(content), toEntryName(name), STORED)
      continue
    }
    const { size, mtime, open } = content
    zip.addReadStreamLazy(toEntryName(name), { ...STORED, size, mtime }, (done) => {
      openEntry(size, open).then((stream) => { done(null, stream) }, (err: Error) => { output.destroy(err) })
    })
  }
  let size = 0
  zip.end(undefined, (...[total = 0]: number[]) => { size = total })
  return { size, stream: output }
}
