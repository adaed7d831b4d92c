import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { escapeLike } from '../../core/database/columns.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { TrackMeta } from '../roms/entities.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { Facet, FacetQuery, FacetValue, ListPart, PageQuery, TrackFilters } from './schemas.ts'

export interface TrackRow {
  rom_file_id: number
  rom_id: number
  file_name: string
  track_meta: TrackMeta
  is_favorite: boolean
  game_name: string | null
  platform_id: number
  platform_slug: string
  platform_name: string
  path_cover_large: string | null
}

/** The tracks to search: all, or those of a user's list, aliased `m`. */
export type TrackSource = { kind: 'all' } | { kind: 'favorites', user_id: number } | { kind: 'playlist', id: number }

const FILES = sql`rom_files f`
function listFrom (source: TrackSource): RawBuilder<unknown> {
  if (source.kind === 'all') return FILES
  return source.kind === 'favorites'
    ? sql`(select l.file_id from music_favorites l where l.user_id = ${source.user_id}) m join ${FILES} on f.id = m.file_id`
    : sql`(select l.file_id, l.position from music_playlist_tracks l where l.playlist_id = ${source.id}) m
        join ${FILES} on f.id = m.file_id`
}

/** Reads the ROM of each track by its id, because there are few tracks compared with the ROMs of the library. */
const tracks = (source: TrackSource) => sql`${listFrom(source)}
  cross join lateral (select o.id, o.platform_id, o.min_age from roms o where o.id = f.rom_id offset 0) r`

const tag = (name: keyof TrackMeta) => sql<string | null>`f.track_meta ->> ${sql.lit(name)}`
const numberTag = (name: 'year' | 'duration_seconds', type: 'int' | 'float8') =>
  sql<number | null>`(f.track_meta ->> ${sql.lit(name)})::${sql.raw(type)}`
const YEAR = numberTag('year', 'int')
const DURATION = numberTag('duration_seconds', 'float8')
const NAMED = ['artist', 'album', 'genre'] as const

const contains = (value: RawBuilder<unknown>, text: string) => sql<boolean>`${value} ilike ${`%${escapeLike(text)}%`}`

function isWanted (caller: AnyCaller, filters: TrackFilters): RawBuilder<boolean> {
  const { platform_ids: platforms = [], rom_id: rom, year, min_duration: min, max_duration: max } = filters
  const conditions = [
    sql<boolean>`f.track_meta is not null`,
    isRomVisible(caller),
    ...NAMED.flatMap((name) => filters[name] === undefined ? [] : [sql<boolean>`lower(${tag(name)}) = lower(${filters[name]})`]),
    ...(platforms.length === 0 ? [] : [sql<boolean>`r.platform_id = any(${platforms}::int[])`]),
    ...(rom === undefined ? [] : [sql<boolean>`f.rom_id = ${rom}`]),
    ...(year === undefined ? [] : [sql<boolean>`${YEAR} = ${year}`]),
    ...(min === undefined ? [] : [sql<boolean>`${DURATION} >= ${min}::float8`]),
    ...(max === undefined ? [] : [sql<boolean>`${DURATION} <= ${max}::float8`])
  ]
  return sql.join<boolean>(conditions, sql` and `)
}

/** True if a part of the title, artist or album matches. */
function isFound ({ search = '' }: TrackFilters): RawBuilder<boolean> {
  if (search === '') return sql<boolean>`true`
  const parts = (['title', 'artist', 'album'] as const).map((name) => contains(tag(name), search))
  return sql<boolean>`(${sql.join(parts, sql` or `)})`
}

const byText = (name: 'title' | 'artist' | 'album') => sql`lower(${tag(name)}) collate "C"`
const BY_TITLE = byText('title')
const ORDERS: ReadonlyMap<string, RawBuilder<unknown>> = new Map([
  ['artist', byText('artist')],
  ['album', byText('album')],
  ['duration', DURATION],
  ['year', YEAR],
  ['platform', sql`(select lower(p.name) collate "C" from platforms p where p.id = r.platform_id)`],
  ['added', sql`f.created_at`]
])

function orderOf (source: TrackSource, name: string): RawBuilder<unknown> {
  if (name === 'position' && source.kind === 'playlist') return sql`m.position`
  return ORDERS.get(name) ?? BY_TITLE
}

const directionOf = (isDescending: boolean) => isDescending ? sql`desc` : sql`asc`
const page = ({ limit, offset }: Pick<PageQuery, 'limit' | 'offset'>) => sql`limit ${limit} offset ${offset}`

/** Loads tracks that a caller sees. */
export async function selectTracks (
  { db, caller }: Context<NonNullable<AnyCaller>>, source: TrackSource, query: TrackFilters & PageQuery
): Promise<ListPart<TrackRow>> {
  const order = sql`order by key ${directionOf(query.order_dir.toLowerCase() === 'desc')} nulls last, id`
  const { rows: [row] } = await sql<ListPart<TrackRow>>`
    with found as materialized (
      select f.id, ${orderOf(source, query.order_by.toLowerCase())} as key from ${tracks(source)}
      where ${isWanted(caller, query)} and ${isFound(query)}),
    listed as materialized (select id, row_number() over (${order}) as place from found ${order} ${page(query)})
    select (select count(*)::int from found) as total, coalesce(jsonb_agg(to_jsonb(t) - 'place' order by t.place), '[]') as items
    from (select l.place, f.id as rom_file_id, f.rom_id, f.file_name, f.track_meta, r.name as game_name,
        r.path_cover_large, p.id as platform_id, p.slug as platform_slug, p.name as platform_name,
        exists (select from music_favorites m where m.user_id = ${caller.id} and m.file_id = f.id) as is_favorite
      from listed l join rom_files f on f.id = l.id join roms r on r.id = f.rom_id join platforms p on p.id = r.platform_id) t`
    .execute(db)
  return row ?? { items: [], total: 0 }
}

/**
 * Returns the expressions of a field. Years sort as numbers. Spellings of a text that differ in case are one value,
 * shown in the most frequent spelling.
 */
function facetOf (facet: Facet) {
  if (facet === 'year') return { value: YEAR, key: sql`value`, shown: sql`value`, isSet: sql<boolean>`value is not null` }
  return {
    value: tag(facet),
    key: sql`lower(value) collate "C"`,
    shown: sql`mode() within group (order by value collate "C")`,
    isSet: sql<boolean>`btrim(value) <> ''`
  }
}

/** Loads the values of a field of tracks, with the number of tracks of each. */
export async function selectFacet (
  { db, caller }: Context<AnyCaller>, facet: Facet, query: FacetQuery
): Promise<ListPart<FacetValue>> {
  const { value, key, shown, isSet } = facetOf(facet)
  const { search = '', order_by: orderBy } = query
  const direction = query.order_dir.toLowerCase()
  const order = orderBy.toLowerCase() === 'value'
    ? sql`order by key ${directionOf(direction === 'desc')}`
    : sql`order by count ${directionOf(direction !== 'asc')}, key`
  const { rows: [row] } = await sql<ListPart<FacetValue>>`
    with found as (select ${value} as value from ${tracks({ kind: 'all' })} where ${isWanted(caller, query)}),
    grouped as materialized (select ${key} as key, ${shown} as value, count(*)::int as count from found
      where ${isSet} and ${search === '' ? sql<boolean>`true` : contains(sql`value::text`, search)} group by ${key}),
    listed as (select *, row_number() over (${order}) as place from grouped ${order} ${page(query)})
    select (select count(*)::int from grouped) as total,
      coalesce(jsonb_agg(jsonb_build_object('value', value, 'count', count) order by place), '[]') as items from listed`
    .execute(db)
  return row ?? { items: [], total: 0 }
}

/** A file id from a client. Both flags are false for a file that does not exist. */
export interface RequestedFile { id: number, is_visible: boolean, is_track: boolean }

export async function selectNamed (
  { db, caller }: Context<AnyCaller>, ids: readonly number[]
): Promise<RequestedFile[]> {
  const { rows } = await sql<RequestedFile>`select g.id, r.id is not null as is_visible, f.track_meta is not null as is_track
    from unnest(${ids}::int[]) as g (id) left join rom_files f on f.id = g.id
    left join roms r on r.id = f.rom_id and ${isRomVisible(caller)}`.execute(db)
  return rows
}
