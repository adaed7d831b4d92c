import { constants, open } from 'node:fs/promises'

/** Flushes the entries of a folder to the disk, so that new names in it survive a power cut. */
export async function syncFolder (path: string): Promise<void> {
  // Windows cannot open a folder.
  if (process.platform === 'win32') return
  const handle = await open(path, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
