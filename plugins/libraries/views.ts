import { formatDate } from '../../core/typebox.ts'
import type { LibraryRoot } from '../library/roots.ts'
import type { LibrarySize, StoredLibrary } from './rows.ts'
import type { LibraryView } from './schemas.ts'

/** Free and total space of the disk of a library. */
export interface DiskSpace { free: number, total: number }

export interface LibraryFacts {
  stored: StoredLibrary
  /** Null if the library is not configured any more. */
  root: LibraryRoot | null
  problem: string | null
  size: LibrarySize
  room: DiskSpace | null
}

export const EMPTY_LIBRARY_SIZE: LibrarySize = { platform_count: 0, rom_count: 0, missing_count: 0, fs_size_bytes: 0 }

/** @param mask replaces paths of the machine in texts; null for administrators */
export function toLibraryView (
  { stored, root, problem, size, room }: LibraryFacts, mask: ((text: string) => string) | null
): LibraryView {
  const isAdmin = mask === null
  const { scan_id: scan, scanned_at: scannedAt, problem: scanProblem } = stored
  return {
    id: stored.id,
    name: stored.name,
    path: isAdmin ? root?.dir ?? stored.root : null,
    structure: root?.filesystem.structure.default ?? null,
    is_writable: root?.is_writable ?? false,
    is_watched: root?.is_watched ?? false,
    is_configured: root !== null,
    is_available: root !== null && problem === null,
    problem,
    ...size,
    free_bytes: isAdmin ? room?.free ?? null : null,
    total_bytes: isAdmin ? room?.total ?? null : null,
    last_scan: scan === null || scannedAt === null
      ? null
      : {
          task_id: scan,
          ended_at: formatDate(scannedAt),
          problem: scanProblem === null || isAdmin ? scanProblem : mask(scanProblem)
        }
  }
}
