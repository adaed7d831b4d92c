import { stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { MediaKind } from '@svc/plugin-sdk'
import { errorCode } from '../../../core/files/fs-error.ts'
import { openInside, resolveInside, safeRelativePath } from '../../../core/files/safe-path.ts'
import { exportFailed } from '../errors.ts'
import { convertImage, readImageType } from './images.ts'
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

/** @throws ApiError EXPORT_FAILED if the file no longer exists, PathRefusedError if the path is not a resource. */
export async function findSource (resourcesDir: string, path: string): Promise<MediaSource> {
  try {
    return { path, stats: await stat(join(resourcesDir, safeRelativePath(path))) }
  } catch (err) {
    if (errorCode(err) !== 'ENOENT') throw err
    throw exportFailed(`The file ${JSON.stringify(path)} of the server is missing. Scan again to fetch it.`,
      { cause: err })
  }
}

/** @throws ApiError EXPORT_FAILED if the content does not fit its kind, Error if the file cannot be read. */
export async function readContent (
  resourcesDir: string, kind: MediaKind, { path }: MediaSource
): Promise<{ content: Content, extension: string }> {
  if (extensionsOf(kind) === IMAGES) return await readImage(resourcesDir, path)
  const extension = posix.extname(path).toLowerCase()
  if (!extensionsOf(kind).includes(extension)) {
    throw exportFailed(
      `Frontends cannot show ${JSON.stringify(path)} as ${kind}, because its extension is not one of ${extensionsOf(kind).join(', ')}`)
  }
  return { content: { file: await resolveInside(resourcesDir, path) }, extension }
}

async function readImage (resourcesDir: string, path: string): Promise<{ content: Content, extension: string }> {
  const file = await resolveInside(resourcesDir, path)
  const handle = await openInside(resourcesDir, path)
  try {
    const type = await readImageType(handle)
    if (type === null) throw exportFailed(`The file ${JSON.stringify(path)} is not a picture`)
    if (type !== 'other') return { content: { file }, extension: `.${type}` }
    // Pass the content and not the path, because sharp caches files by path and would miss a change.
    const { extension, bytes } = await convertImage(await handle.readFile())
    return { content: { bytes }, extension }
  } finally {
    await handle.close()
  }
}
