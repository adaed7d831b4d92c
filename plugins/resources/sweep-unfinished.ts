import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isNotFoundError } from '../../core/files/fs-error.ts'
import { UNFINISHED } from './resource-key.ts'

/** No download or upload of a picture takes longer. */
const OLD_MS = 24 * 60 * 60_000
/** The folders of incomplete files: of artwork and manuals, and of covers of collections. */
const FOLDERS = [UNFINISHED, join('collections', '.incoming')]

/**
 * Deletes old incomplete files of killed processes. With a bucket, this machine may run no scan that would delete them.
 *
 * @param resourcesDir the resources folder of this machine
 */
export async function sweepUnfinished (resourcesDir: string): Promise<void> {
  for (const folder of FOLDERS.map((name) => join(resourcesDir, name))) {
    const names = await readdir(folder).catch((err: unknown) => {
      if (isNotFoundError(err)) return []
      throw err
    })
    for (const path of names.map((name) => join(folder, name))) {
      const isOld = await stat(path).then(({ mtimeMs }) => mtimeMs < Date.now() - OLD_MS, () => false)
      if (isOld) await rm(path, { recursive: true, force: true })
    }
  }
}
