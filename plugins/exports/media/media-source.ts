import { stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { MediaKind } from '@svc/plugin-sdk'
import { errorCode } from '../../../core/files/fs-error.ts'
import { resolveInside, safeRelativePath } from '../../../core/files/safe-path.ts'
import type { Store, StoredObject } from '../../../core/store/store.ts'
import { resourceKey } from '../../resources/resource-key.ts'
import { exportFailed } from '../errors.ts'
import { HEAD_BYTES, convertImage, readImageType } from './images.ts'
import type { Content } from './media-folder.ts'
import type { MediaSource } from './media-records.ts'

/** Picture extensions that frontends look for, in their order. */
const IMAGES = ['.png', '.jpg']
const FILMS = ['.mp4', '.mkv', '.avi', '.wmv', '.mov', '.webm', '.m4v']
const DOCUMENTS = ['.pdf', '.cbz']
const EXTENSIONS: Partial<Record<MediaKind, readonly string[]>> = {
  video: FILMS, video_normalized: FILMS, manual: DOCUMENTS
}

/** Returns the extensions that a medium of this kind may have beside the ROMs. */
export const extensionsOf = (kind: MediaKind) => EXTENSIONS[kind] ?? IMAGES

const missing = (path: string, options?: ErrorOptions) =>
  exportFailed(`The file ${JSON.stringify(path)} of the server is missing. Scan again to fetch it.`, options)

async function readStats (file: string, path: string): Promise<MediaSource> {
  try {
    const { size, mtimeMs: time, ino, dev } = await stat(file)
    return { path, size, time, file: { ino, dev } }
  } catch (err) {
    if (errorCode(err) !== 'ENOENT') throw err
    throw missing(path, { cause: err })
  }
}

const keyOf = (path: string) => resourceKey(safeRelativePath(path))

/** @throws ApiError EXPORT_FAILED if the file no longer exists, PathRefusedError if the path is not a resource. */
export async function findSource (store: Store, path: string): Promise<MediaSource> {
  if (store.folder !== null) return await readStats(join(store.folder, keyOf(path)), path)
  const facts = await store.stat(keyOf(path))
  if (facts === null) throw missing(path)
  return { path, size: facts.size, time: facts.modifiedAt.getTime(), file: null }
}

/** Returns the content of an open object, which is linked if it is a file on this machine. */
async function toContent ({ folder }: Store, object: StoredObject): Promise<Content> {
  if (folder === null) return { size: object.size, read: () => object.read(0, object.size) }
  return { file: await resolveInside(folder, object.key) }
}

async function readImage (store: Store, object: StoredObject, path: string): Promise<MediumContent> {
  const type = readImageType(await buffer(object.read(0, Math.min(HEAD_BYTES, object.size))))
  if (type === null) throw exportFailed(`The file ${JSON.stringify(path)} is not a picture`)
  if (type !== 'other') return { content: await toContent(store, object), extension: `.${type}` }
  // Pass the content and not the path, because sharp caches files by path and would miss a change.
  const { extension, bytes } = await convertImage(await buffer(object.read(0, object.size)))
  return { content: { bytes }, extension }
}

/** The content of a medium, with the extension that fits it. */
export interface MediumContent { content: Content, extension: string }

/**
 * Opens a source and passes its content to `use`.
 *
 * @throws ApiError EXPORT_FAILED if the content does not fit its kind, Error if the file cannot be read.
 */
export async function withContent<T> (
  store: Store, kind: MediaKind, { path }: MediaSource, use: (content: MediumContent) => Promise<T>
): Promise<T> {
  const isImage = extensionsOf(kind) === IMAGES
  const extension = posix.extname(path).toLowerCase()
  if (!isImage && !extensionsOf(kind).includes(extension)) {
    throw exportFailed(
      `Frontends cannot show ${JSON.stringify(path)} as ${kind}, because its extension is not one of ${extensionsOf(kind).join(', ')}`)
  }
  const object = await store.get(keyOf(path))
  if (object === null) throw missing(path)
  try {
    if (isImage) return await use(await readImage(store, object, path))
    return await use({ content: await toContent(store, object), extension })
  } finally {
    await object.close()
  }
}
