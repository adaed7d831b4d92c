import { lstat, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import type { Config } from '../../core/config/config.ts'
import { ApiError } from '../../core/errors.ts'
import { countRoom } from '../../core/files/free-space.ts'
import { listOwnFiles } from './files.ts'
import { measureTables } from './rows.ts'

/** Rows as text, compressed, against what they take in the database: less than a third in every library measured. */
const TEXT_SHARE = 1 / 2

export interface SpaceNeed {
  config: Config
  client: pg.Client
  /** Where the archive is written. */
  folder: string
  /** Whether files are written with it. */
  hasFiles: boolean
}

const gibibytes = (bytes: number) => `${(bytes / 1024 ** 3).toFixed(1)} GiB`

async function measureFiles (dataDir: string): Promise<number> {
  let bytes = 0
  for await (const path of listOwnFiles(dataDir)) {
    // One that was deleted since takes no room.
    bytes += await lstat(join(dataDir, path)).then(({ size }) => size, () => 0)
  }
  return bytes
}

/** @throws ApiError NO_FREE_SPACE */
async function requireRoomIn (folder: string, bytes: number): Promise<void> {
  const room = Math.max(0, await countRoom(folder))
  if (room >= bytes) return
  throw new ApiError('NO_FREE_SPACE', `The backup needs about ${gibibytes(bytes)} in ${folder}, where ${gibibytes(room)} may be used: ` +
    '1 GiB of a disk stays free. Make room, or set SVC_BACKUP_DIR to another disk.')
}

/**
 * Before anything is written: whether the archive fits, and the database in which its tables are tried, which lies in
 * the data directory unless the database is elsewhere. Files are taken not to shrink, so that it is enough.
 *
 * @throws ApiError NO_FREE_SPACE that says how much there must be
 */
export async function requireSpace ({ config, client, folder, hasFiles }: SpaceNeed): Promise<void> {
  const { rows, whole } = await measureTables(client)
  const archive = rows * TEXT_SHARE + (hasFiles ? await measureFiles(config.data_dir) : 0)
  const tried = config.database.url === undefined ? whole : 0
  const [own, other] = await Promise.all([stat(config.data_dir), stat(folder)])
  if (own.dev === other.dev) return await requireRoomIn(folder, archive + tried)
  await requireRoomIn(folder, archive)
  await requireRoomIn(config.data_dir, tried)
}
