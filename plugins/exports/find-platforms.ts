import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { notFound } from '../../core/errors.ts'
import { Platform } from '../platforms/entities.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { PlatformRow } from './platform/platform-export.ts'

const toRow = ({ id, slug, fs_slug: fsSlug, name, custom_name: customName }: Platform): PlatformRow => ({
  id, slug, fs_slug: fsSlug, name: customName === null || customName === undefined || customName === '' ? name : customName
})

/** Lists platforms by folder name. @param ids null means all that are on disk */
export async function listPlatforms (db: Db, ids: readonly number[] | null): Promise<PlatformRow[]> {
  const where = ids === null ? { missing_from_fs: false } : { id: { $in: [...ids] } }
  const rows = await db.em.find(Platform, where, { orderBy: { fs_slug: 'asc' } })
  return rows.map(toRow)
}

/**
 * Returns the ids of platforms that the caller sees, by slug, folder name and id; null means all.
 *
 * @throws ApiError NOT_FOUND with the first name or id that does not exist.
 */
export async function findPlatforms (
  platforms: FastifyInstance['platforms'], context: Context<AnyCaller>, names: readonly string[], ids: readonly number[]
): Promise<number[] | null> {
  const { db, caller } = context
  const hidden = caller === null ? new Set<string>() : await platforms.listHiddenFolders(context)
  const isVisible = { fs_slug: { $nin: [...hidden] } }
  if (names.length === 0 && ids.length === 0) {
    if (hidden.size === 0) return null
    return (await db.em.find(Platform, { ...isVisible, missing_from_fs: false })).map(({ id }) => id)
  }
  const isNamed = [{ slug: { $in: [...names] } }, { fs_slug: { $in: [...names] } }, { id: { $in: [...ids] } }]
  const rows = await db.em.find(Platform, { ...isVisible, $or: isNamed })
  const unknown = names.find((name) => !rows.some((row) => row.slug === name || row.fs_slug === name))
  if (unknown !== undefined) throw notFound(`Platform '${unknown}' not found`)
  const unknownId = ids.find((id) => !rows.some((row) => row.id === id))
  if (unknownId !== undefined) throw notFound(`Platform with ID '${unknownId}' not found`)
  return rows.map(({ id }) => id)
}
