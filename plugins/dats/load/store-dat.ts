import type pg from 'pg'
import { conflict } from '../../../core/errors.ts'
import { DatError } from '../parse/dat-types.ts'
import { datKey, isOlder, versionOf } from '../parse/dat-version.ts'
import type { OpenDat } from '../parse/read-dat.ts'
import { findPlatformSlugs } from '../platform-names.ts'
import { type FormerDat, finishDat, inOwnTransaction, lockFormer, selectRepeatedHash, upsertDat } from './dat-write-rows.ts'
import { GameWriter } from './game-writer.ts'

/** The origin of a DAT. */
export interface DatOrigin {
  /** The name of the file, for a DAT that states no name. */
  fileName: string
  /** The path in the folder of DATs; null for an upload. */
  folderPath: string | null
  /** The platforms that an administrator chose; null if the name of the DAT decides. */
  platformSlugs: readonly string[] | null
}

export interface StoredDat { id: number, name: string, version: string, games: number, files: number }
/** A DAT that was not stored, because the stored version is newer. */
export interface OlderDat { name: string, version: string, storedVersion: string }

/** The most files of one DAT with the same hash: each is compared with each file of the library that has this hash. */
const SAME_HASH_MAX = 2_000

/** @throws DatError for a DAT without a game, and for one that would make comparisons take too long */
async function checkGames (client: pg.ClientBase, id: number, games: number): Promise<void> {
  if (games === 0) throw new DatError(1, 'the DAT has no game with a hash', 'download it again')
  const repeated = await selectRepeatedHash(client, id, SAME_HASH_MAX)
  if (repeated !== null) throw new DatError(1, `more than ${SAME_HASH_MAX} files have the hash ${repeated}`, 'split the DAT')
}

/** @throws ApiError CONFLICT if the stored version is an upload and the new one a file of the folder, or the reverse */
function checkOrigin ({ id, folder_path: path }: FormerDat, name: string, origin: DatOrigin): void {
  if (path !== null && origin.folderPath === null) {
    throw conflict(`'${name}' comes from '${path}' in the folder of DATs; put the new version there, or delete that file and then DAT ${id}`)
  }
  if (path === null && origin.folderPath !== null) {
    throw conflict(`'${name}' was uploaded as DAT ${id}; delete that with svc dat remove ${id}, or delete this file`)
  }
}

/**
 * Stores a DAT in place of its former version, all of it or nothing.
 *
 * @returns the stored DAT, or the reason why the stored version stays
 * @throws DatError
 * @throws ApiError CONFLICT for a version of another origin
 */
export async function storeDat (
  pool: pg.Pool, { header: stated, games }: OpenDat, origin: DatOrigin
): Promise<StoredDat | OlderDat> {
  const name = stated.name || stated.description || origin.fileName.replace(/^.*\//, '').replace(/\.(?:dat|xml)$/i, '')
  const header = { ...stated, name }
  const [key, version] = [datKey(name), versionOf(header)]
  return await inOwnTransaction(pool, async (client) => {
    const former = await lockFormer(client, key)
    if (former !== null) checkOrigin(former, name, origin)
    if (former !== null && isOlder(version, versionOf(former))) {
      return { name, version, storedVersion: versionOf(former) }
    }
    const chosen = origin.platformSlugs ?? (former?.is_platform_chosen === true ? former.platform_slugs : null)
    const slugs = chosen ?? findPlatformSlugs(name)
    const id = await upsertDat(client, {
      key, header, folder_path: origin.folderPath, platform_slugs: slugs, is_platform_chosen: chosen !== null
    })
    if (id === null) throw conflict(`'${name}' was uploaded and put into the folder of DATs at the same time; load it again`)
    const writer = new GameWriter(client, id, header)
    for await (const game of games) await writer.add(game)
    await writer.finish()
    await checkGames(client, id, writer.counts.games)
    await finishDat(client, id, writer.counts, [...former?.platform_slugs ?? [], ...slugs])
    return { id, name, version, ...writer.counts }
  })
}
