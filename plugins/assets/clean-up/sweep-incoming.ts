import { glob, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isNotFoundError } from '../../../core/files/fs-error.ts'
import { INCOMING } from '../asset-files.ts'
import { LEFTOVER_AFTER_MS } from './check-folder.ts'

/**
 * Deletes old remains of uploads that this host staged for a store on another machine. The clean-up in the scan worker
 * sees only the store.
 *
 * @param base the assets folder of this host
 */
export async function sweepIncoming (base: string): Promise<void> {
  for await (const path of glob([`users/*/${INCOMING}/*.part`, `${INCOMING}/*.part`], { cwd: base })) {
    try {
      const { mtimeMs } = await stat(join(base, path))
      if (mtimeMs < Date.now() - LEFTOVER_AFTER_MS) await rm(join(base, path), { force: true })
    } catch (err) {
      if (!isNotFoundError(err)) throw err
    }
  }
}
