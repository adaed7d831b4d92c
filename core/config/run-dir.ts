import { join } from 'node:path'
import { createDataDir, createPrivateFolder, explainDataDir } from './data-dir.ts'

/**
 * Returns the folder for files that live as long as a server runs: the lock, its address, its workers' sockets, its
 * code without types.
 */
export const runDir = (dataDir: string) => join(dataDir, 'run')

/**
 * Creates the run directory, and the data directory around it, closed to other users. An existing data directory keeps
 * its permissions, because other users may add ROMs to the library in it.
 *
 * @throws StartError if this user may not create it.
 */
export function createRunDir (dataDir: string): string {
  const folder = runDir(dataDir)
  createDataDir(dataDir)
  try {
    createPrivateFolder(folder)
    return folder
  } catch (err) {
    throw explainDataDir(dataDir, err)
  }
}
