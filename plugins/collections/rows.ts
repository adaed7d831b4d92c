import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import { isChangedAfter } from '../platforms/changed-after.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isCollectionVisible, isRomVisible } from '../roms/visibility.ts'
import type { QuotaUse } from '../users/quota.ts'

/** True if a collection with this id from an address exists and the caller sees it. */
export async function hasVisibleCollection ({ db, caller }: Context<AnyCaller>, id: string): Promise<boolean> {
  const { rows } = await sql`select from collections c where c.id = ${id}::bigint and ${isCollectionVisible(caller)}`
    .execute(db)
  return rows.length > 0
}

/** A cover of a ROM; times are milliseconds since 1970. */
export interface CoverRow { id: number, small: string | null, large: string | null, updated_at: number }

export interface OwnedRow {
  id: number
  user_id: number
  owner_username: string
  name: string
  description: string
  is_public: boolean
  created_at: number
  updated_at: number
}

export interface CollectionRow extends OwnedRow {
  is_favorite: boolean
  url_cover: string | null
  path_cover_small: string | null
  path_cover_large: string | null
  rom_ids: number[]
  /** Covers of the members that have one, by name of the member. */
  covers: CoverRow[]
}

export interface SmartRow extends OwnedRow { filter_criteria: Record<string, unknown> }

export type Kind = 'plain' | 'smart'
const TABLES = { plain: 'collections', smart: 'smart_collections' } as const

const OWNED = sql`c.id, c.user_id, u.username as owner_username, c.name, c.description, c.is_public,
  ${selectMilliseconds('c.created_at')} as created_at, ${selectMilliseconds('c.updated_at')} as updated_at`
const BY_NAME = sql`order by lower(c.name), c.name, c.id`
export const HAS_COVER = sql<boolean>`(r.path_cover_small <> '' or r.path_cover_large <> '')`
/** Columns of the cover of a row of `roms`, aliased `r`. */
export const COVER = sql`r.id, r.path_cover_small as small, r.path_cover_large as large, ${selectMilliseconds('r.updated_at')} as updated_at`

/** Narrows a list to one collection, or to those changed after a time. */
export interface CollectionCondition { id?: number | undefined, updated_after?: string | undefined }

function isMeant ({ id, updated_after: after }: CollectionCondition): RawBuilder<boolean> {
  const isId = id === undefined ? sql<boolean>`true` : sql<boolean>`c.id = ${id}`
  return after === undefined ? isId : sql<boolean>`${isId} and ${isChangedAfter('c.updated_at', after)}`
}

/** Loads the plain collections that a caller sees, by name, with the members that the caller sees. */
export async function selectCollections (
  { db, caller }: Context<AnyCaller>, filter: CollectionCondition = {}
): Promise<CollectionRow[]> {
  const { rows } = await sql<CollectionRow>`
    select ${OWNED}, c.is_favorite, c.url_cover, c.path_cover_small, c.path_cover_large,
      coalesce(m.rom_ids, '[]') as rom_ids, coalesce(m.covers, '[]') as covers
    from collections c join users u on u.id = c.user_id
    left join lateral (
      select jsonb_agg(r.id order by r.name_sort_key, r.id) as rom_ids,
        jsonb_agg((select to_jsonb(cover) from (select ${COVER}) cover) order by r.name_sort_key, r.id)
          filter (where ${HAS_COVER}) as covers
      from collection_roms l join roms r on r.id = l.rom_id where l.collection_id = c.id and ${isRomVisible(caller)}
    ) m on true
    where ${isCollectionVisible(caller)} and ${isMeant(filter)} ${BY_NAME}`.execute(db)
  return rows
}

/** Loads the smart collections that a caller sees, by name. */
export async function selectSmartCollections (
  { db, caller }: Context<AnyCaller>, filter: CollectionCondition = {}
): Promise<SmartRow[]> {
  const { rows } = await sql<SmartRow>`select ${OWNED}, c.filter_criteria
    from smart_collections c join users u on u.id = c.user_id
    where ${isCollectionVisible(caller)} and ${isMeant(filter)} ${BY_NAME}`.execute(db)
  return rows
}

/** Loads the ids of the collections that a caller sees, by name. */
export async function selectCollectionIds ({ db, caller }: Context<AnyCaller>, kind: Kind): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select c.id from ${sql.table(TABLES[kind])} c
    where ${isCollectionVisible(caller)} ${BY_NAME}`.execute(db)
  return rows.map((row) => row.id)
}

/** Measures the collections of a user: their number, and the characters of their descriptions and filters. */
export async function measureCollections (
  db: Db, userId: number, kind: Kind
): Promise<QuotaUse> {
  const filter = kind === 'smart' ? sql`length(filter_criteria::text)` : sql`0`
  const { rows: [size] } = await sql<QuotaUse>`select count(*)::int as count,
      coalesce(sum(length(description) + ${filter}), 0)::float8 as characters
    from ${sql.table(TABLES[kind])} where user_id = ${userId}`.execute(db)
  return size ?? { count: 0, characters: 0 }
}

/** Loads the owner of a collection; null if it does not exist. */
export async function findOwner (
  db: Db, kind: Kind, id: number
): Promise<{ user_id: number, is_public: boolean } | null> {
  const { rows } = await sql<{ user_id: number, is_public: boolean }>`select c.user_id, c.is_public
    from ${sql.table(TABLES[kind])} c where c.id = ${id}`.execute(db)
  return rows[0] ?? null
}

/** Loads the covers of these ROMs, by id. Skips ROMs without a cover or hidden from the caller. */
export async function selectCovers (
  { db, caller }: Context<AnyCaller>, romIds: readonly number[]
): Promise<Map<number, CoverRow>> {
  if (romIds.length === 0) return new Map()
  const { rows } = await sql<CoverRow>`select ${COVER} from roms r
    where r.id = any(${romIds}::int[]) and ${HAS_COVER} and ${isRomVisible(caller)}`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Returns the ids whose ROMs a caller sees, in their order. */
export async function selectVisibleIds (
  { db, caller }: Context<AnyCaller>, romIds: readonly number[]
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select r.id from unnest(${romIds}::int[]) with ordinality as given (id, place)
    join roms r on r.id = given.id where ${isRomVisible(caller)} order by given.place`.execute(db)
  return rows.map((row) => row.id)
}

const visible = (caller: AnyCaller, romIds: readonly number[]) => sql`select r.id from roms r
  where r.id = any(${romIds}::int[]) and ${isRomVisible(caller)}`

/**
 * Adds ROMs that the caller sees.
 *
 * @returns the number of new members
 */
export async function insertMembers (
  { db, caller }: Context<AnyCaller>, id: number, romIds: readonly number[]
): Promise<number> {
  const { rows } = await sql`insert into collection_roms (collection_id, rom_id)
    select ${id}::int, seen.id from (${visible(caller, romIds)}) seen on conflict do nothing returning rom_id`.execute(db)
  return rows.length
}

/**
 * Removes ROMs that the caller sees.
 *
 * @returns the number of removed members
 */
export async function deleteMembers (
  { db, caller }: Context<AnyCaller>, id: number, romIds: readonly number[]
): Promise<number> {
  const { rows } = await sql`delete from collection_roms l
    where l.collection_id = ${id} and l.rom_id in (${visible(caller, romIds)}) returning l.rom_id`.execute(db)
  return rows.length
}

/**
 * Removes all visible members except these. Members that the caller does not see stay, because the caller did not know
 * them.
 */
export async function restrictMembers (
  { db, caller }: Context<AnyCaller>, id: number, romIds: readonly number[]
): Promise<void> {
  await sql`delete from collection_roms l using roms r
    where l.collection_id = ${id} and r.id = l.rom_id and r.id <> all(${romIds}::int[]) and ${isRomVisible(caller)}`
    .execute(db)
}

/** Returns the ids of existing collections. */
export async function selectExistingIds (db: Db, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`select c.id from collections c where c.id = any(${ids}::int[])`.execute(db)
  return new Set(rows.map((row) => row.id))
}
