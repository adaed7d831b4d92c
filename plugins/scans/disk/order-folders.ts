import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { romsPath } from '../../library/structure.ts'
import type { ScanType } from '../../matching/scan-types.ts'
import type { Library } from './read-library.ts'

/** The platform folders of a library in the order of their scan. */
export interface FolderOrder {
  folders: readonly string[]
  /** True if the scan probably hashes files. Hashing then starts at once, because its start delays the first files. */
  needsHashes: boolean
}

interface OrderOptions {
  type: ScanType
  /** The end of the last scan in milliseconds since 1970; null if this is the first scan of the library. */
  scannedAt: number | null
}

/**
 * Orders platform folders. A quick scan begins with the folder that changed last, because people wait for their new
 * games; the first scan of a library and other scans follow the order of names.
 */
export async function orderFolders (
  folders: readonly string[], { root, structure }: Pick<Library, 'root' | 'structure'>,
  { type, scannedAt }: OrderOptions
): Promise<FolderOrder> {
  if (type === 'update' || type === 'unmatched') return { folders, needsHashes: false }
  if (type !== 'quick' || scannedAt === null) return { folders, needsHashes: folders.length > 0 }
  const changed = await Promise.all(folders.map(async (folder) => {
    const facts = await stat(join(root.dir, romsPath(structure, folder))).catch(() => null)
    return { folder, at: facts?.mtimeMs ?? 0 }
  }))
  return {
    folders: changed.sort((a, b) => b.at - a.at).map(({ folder }) => folder),
    needsHashes: changed.some(({ at }) => at > scannedAt)
  }
}
