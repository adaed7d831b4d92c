import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../core/files/fs-error.ts'
import { artworkFolder } from './artwork.ts'

const ROOT = 'roms'
const ID = /^[1-9]\d{0,9}$/

async function listIds (folder: string): Promise<number[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    // All other entries do not belong to this feature.
    return entries.filter((entry) => entry.isDirectory() && ID.test(entry.name)).map((entry) => Number(entry.name))
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return []
    throw err
  }
}

/** Creates the access to the artwork folders on disk: one per platform, and in it one per ROM. */
export function createArtworkFolders (dataDir: string) {
  const resources = join(dataDir, 'resources')
  const remove = (path: string) => rm(join(resources, path), { recursive: true, force: true })
  return {
    listPlatforms: () => listIds(join(resources, ROOT)),
    listRoms: (platformId: number) => listIds(join(resources, ROOT, String(platformId))),
    removePlatform: (platformId: number) => remove(join(ROOT, String(platformId))),
    remove: (platformId: number, romId: number) => remove(artworkFolder(platformId, romId))
  }
}
