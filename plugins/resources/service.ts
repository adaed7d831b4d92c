import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { MEDIA_KINDS } from '@svc/plugin-sdk'
import type { Config } from '../../core/config.ts'
import { notFound } from '../../core/errors.ts'
import { isNothingThere, openInside } from '../../core/library/safe-path.ts'
import { mediaTypeOf } from './media-types.ts'

const MEDIA_FOLDERS = ['cover', 'screenshots', 'manual', 'soundtrack', 'retroachievements/badges', ...MEDIA_KINDS]
const NAME = '[^/.][^/]*'
/** The folders of which anyone may read a file; what belongs to users has its own routes. */
const PUBLIC_PATHS = [
  new RegExp(`^roms/\\d+/\\d+/(?:${MEDIA_FOLDERS.join('|')})/${NAME}$`, 's'),
  new RegExp(`^platforms/(?:${NAME}/)?${NAME}$`, 's'),
  new RegExp(`^collections/\\d+/cover/${NAME}$`, 's')
]

export function createResources (config: Config) {
  const folder = join(config.data_dir, 'resources')

  return {
    /**
     * Opens a picture, film or document of the resources folder; the caller closes the handle.
     *
     * @throws ApiError NOT_FOUND when there is none that is public.
     */
    async open (path: string): Promise<{ handle: FileHandle, type: string }> {
      const type = mediaTypeOf(path)
      if (type === null || !PUBLIC_PATHS.some((pattern) => pattern.test(path))) throw notFound('Resource not found')
      try {
        return { handle: await openInside(folder, path), type }
      } catch (err) {
        if (isNothingThere(err)) throw notFound('Resource not found')
        throw err
      }
    }
  }
}
