import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { resetScripts } from '../fixtures/script.ts'
import { type ScanTest, buildScanTest } from './support.ts'
import type { Test } from 'tap'

export const missing = async (on: Pick<ScanTest, 'roms'>, folder: string) =>
  (await on.roms(folder)).map((one) => one.missing_from_fs)

export async function startDisk (t: Test) {
  const test = await buildScanTest(t, { providers: ['alpha'] })
  const { put, scan, rom, roms, libraryDir, sql, error, start, finished, problems } = test
  const at = (path: string) => join(libraryDir, path)

  t.beforeEach(resetScripts)

  /** Simulates unmounting: shows the folder under the mount point, which is another one. */
  async function unmount (path: string): Promise<() => Promise<void>> {
    const away = join(test.dataDir, `away-${path.replaceAll('/', '-')}`)
    await rename(at(path), away)
    await mkdir(at(path))
    return async () => {
      await rm(at(path), { recursive: true })
      await rename(away, at(path))
    }
  }
  return { test, put, scan, rom, roms, libraryDir, sql, error, start, finished, problems, at, unmount }
}
