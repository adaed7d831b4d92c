import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { explainDataDir } from './data-dir.ts'

/** What only lives as long as a server runs: the lock, its address, its workers' sockets, its code without types. */
export const runDir = (dataDir: string) => join(dataDir, 'run')

/**
 * Makes it, and the data directory around it, closed to other users. A data directory that is there already keeps its
 * rights: others may put ROMs into the library in it.
 *
 * @throws StartError when this user may not.
 */
export function createRunDir (dataDir: string): string {
  const folder = runDir(dataDir)
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return folder
  } catch (err) {
    throw explainDataDir(dataDir, err)
  }
}
