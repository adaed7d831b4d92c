import { lstat, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import type { Config } from '../../core/config/config.ts'
import { ApiError } from '../../core/errors.ts'
import { countRoom } from '../../core/files/free-space.ts'
import { createStore } from '../../core/store/create-store.ts'
import type { Store } from '../../core/store/store.ts'
import { listOwnFiles } from './files.ts'
import { mebibytes } from './progress.ts'
import { measureTables } from './rows.ts'

/**
 * Size of rows as compressed text relative to their size in the database: less than a third in every measured library.
 */
const TEXT_SHARE = 1 / 2

export interface SpaceNeed {
  config: Config
  client: pg.Client
  /** The folder of the archive. */
  folder: string
  /** True if the archive contains files. */
  hasFiles: boolean
}

const GIB = 1024 ** 3
const sizeOf = (bytes: number) => bytes < GIB ? mebibytes(bytes) : `${(bytes / GIB).toFixed(1)} GiB`

async function measureFiles ({ data_dir: dataDir }: Config, store: Store): Promise<number> {
  let bytes = 0
  for await (const { path, size: known } of listOwnFiles(dataDir, store)) {
    // A file that was deleted since takes no space.
    bytes += known ?? await lstat(join(dataDir, path)).then(({ size }) => size, () => 0)
  }
  return bytes
}

/** @throws ApiError NO_FREE_SPACE */
async function requireRoomIn (folder: string, bytes: number): Promise<void> {
  const room = Math.max(0, await countRoom(folder))
  if (room >= bytes) return
  throw new ApiError('NO_FREE_SPACE', `The backup needs about ${sizeOf(bytes)} in ${folder}, where ${sizeOf(room)} can be used: ` +
    '1 GiB of a disk stays free. Free some space, or set SVC_BACKUP_DIR to a folder on another disk.')
}

/**
 * Checks the free space before anything is written: for the archive, and for the test database, which is in the data
 * directory unless the database is external. Files count uncompressed, so the estimate is sufficient.
 *
 * @throws ApiError NO_FREE_SPACE with the needed size
 */
export async function requireSpace ({ config, client, folder, hasFiles }: SpaceNeed): Promise<void> {
  const { rows, whole } = await measureTables(client)
  const archive = rows * TEXT_SHARE + (hasFiles ? await measureFiles(config, createStore(config)) : 0)
  const tried = config.database.url === undefined ? whole : 0
  const [own, other] = await Promise.all([stat(config.data_dir), stat(folder)])
  if (own.dev === other.dev) return await requireRoomIn(folder, archive + tried)
  await requireRoomIn(folder, archive)
  await requireRoomIn(config.data_dir, tried)
}
