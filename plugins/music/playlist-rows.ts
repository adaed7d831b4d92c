import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isCollectionVisible, isRomVisible } from '../roms/visibility.ts'
import type { QuotaUse } from '../users/quota.ts'

/** A playlist; times are milliseconds since 1970. */
export interface PlaylistRow {
  id: number
  name: string
  description: string | null
  is_public: boolean
  user_id: number
  owner_username: string
  track_count: number
  created_at: number
  updated_at: number
}

/** Measures all playlists of a user. */
export async function measurePlaylists (db: Db, userId: number): Promise<QuotaUse> {
  const { rows: [size] } = await sql<QuotaUse>`select count(*)::int as count,
    coalesce(sum(length(description)), 0)::float8 as characters from music_playlists where user_id = ${userId}`.execute(db)
  return size ?? { count: 0, characters: 0 }
}

/** Loads a caller's own playlists and public ones, by name; or the one with this id. */
export async function selectPlaylists ({ db, caller }: Context<AnyCaller>, id?: number): Promise<PlaylistRow[]> {
  const { rows } = await sql<PlaylistRow>`select c.id, c.name, c.description, c.is_public, c.user_id,
      u.username as owner_username, ${selectMilliseconds('c.created_at')} as created_at, ${selectMilliseconds('c.updated_at')} as updated_at,
      (select count(*)::int from music_playlist_tracks l join rom_files f on f.id = l.file_id join roms r on r.id = f.rom_id
        where l.playlist_id = c.id and f.track_meta is not null and ${isRomVisible(caller)}) as track_count
    from music_playlists c join users u on u.id = c.user_id
    where ${isCollectionVisible(caller, 'playlists')} and ${id === undefined ? sql<boolean>`true` : sql<boolean>`c.id = ${id}`}
    order by lower(c.name), c.name, c.id`.execute(db)
  return rows
}

/** Returns the files that are in a playlist. */
export async function selectEntries (db: Db, id: number, fileIds: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ file_id: number }>`select l.file_id from music_playlist_tracks l
    where l.playlist_id = ${id} and l.file_id = any(${fileIds}::int[])`.execute(db)
  return rows.map((row) => row.file_id)
}

/**
 * Appends files in their order.
 *
 * @returns the number of new entries
 */
export async function insertEntries (db: Db, id: number, fileIds: readonly number[]): Promise<number> {
  const { rows } = await sql`insert into music_playlist_tracks (playlist_id, file_id, position)
    select ${id}::int, g.file_id, e.last + g.place from unnest(${fileIds}::int[]) with ordinality as g (file_id, place),
      (select coalesce(max(l.position), -1) as last from music_playlist_tracks l where l.playlist_id = ${id}) e
    on conflict do nothing returning file_id`.execute(db)
  return rows.length
}

/**
 * Deletes files from a playlist.
 *
 * @returns the number of deleted entries
 */
export async function deleteEntries (db: Db, id: number, fileIds: readonly number[]): Promise<number> {
  const { rows } = await sql`delete from music_playlist_tracks l
    where l.playlist_id = ${id} and l.file_id = any(${fileIds}::int[]) returning l.file_id`.execute(db)
  return rows.length
}

/** Moves files to the start in their order; the others follow in their former order. */
export async function orderEntries (db: Db, id: number, fileIds: readonly number[]): Promise<void> {
  await sql`update music_playlist_tracks l set position = o.place
    from (select e.file_id, row_number() over (order by g.place nulls last, e.position, e.file_id) - 1 as place
      from music_playlist_tracks e left join unnest(${fileIds}::int[]) with ordinality as g (file_id, place)
        on g.file_id = e.file_id
      where e.playlist_id = ${id}) o
    where l.playlist_id = ${id} and l.file_id = o.file_id`.execute(db)
}

/** Returns the files that are favourites of a user. */
export async function selectFavorites (
  db: Db, userId: number, fileIds: readonly number[]
): Promise<number[]> {
  const { rows } = await sql<{ file_id: number }>`select l.file_id from music_favorites l
    where l.user_id = ${userId} and l.file_id = any(${fileIds}::int[])`.execute(db)
  return rows.map((row) => row.file_id)
}

/**
 * Inserts favourites.
 *
 * @returns the number of new favourites
 */
export async function insertFavorites (
  db: Db, userId: number, fileIds: readonly number[]
): Promise<number> {
  const { rows } = await sql`insert into music_favorites (user_id, file_id)
    select ${userId}::int, unnest(${fileIds}::int[]) on conflict do nothing returning file_id`.execute(db)
  return rows.length
}

/**
 * Deletes favourites.
 *
 * @returns the number of deleted favourites
 */
export async function deleteFavorites (
  db: Db, userId: number, fileIds: readonly number[]
): Promise<number> {
  const { rows } = await sql`delete from music_favorites l
    where l.user_id = ${userId} and l.file_id = any(${fileIds}::int[]) returning l.file_id`.execute(db)
  return rows.length
}
