import type pg from 'pg'
import { INSERT_ALL_COUNTS } from '../../plugins/migrations/initial/counts.ts'
import { INSERT_ALL_REGIONS, INSERT_ALL_VALUES } from '../../plugins/migrations/20261123220000-values.ts'
import { INSERT_ALL_NAMES } from '../../plugins/migrations/20261129120000-rom-names.ts'
import { INSERT_VALUES_OF_ALL } from '../../plugins/migrations/20261129170000-rom-values.ts'
import { INSERT_ALL_GAMES } from '../../plugins/migrations/initial/games.ts'

/** Platforms from the largest to the smallest, as in real libraries. */
const PLATFORMS = ['nes', 'snes', 'genesis', 'psx', 'gba', 'gb', 'arcade', 'n64', 'nds', 'gbc', 'c64', 'amiga', 'dos', 'ps2',
  'psp', 'sms', 'gamegear', 'atari2600', 'saturn', 'dc', 'ngc', 'wii', 'segacd', 'tg16', 'msx', 'acpc', 'wonderswan', 'lynx',
  'neo-geo-pocket', 'virtualboy', 'colecovision', 'jaguar', '3do', 'famicom', 'sg1000', 'sega32', 'vectrex', 'xbox']
const WORDS = ['Amber', 'Black', 'Crystal', 'Dragon', 'Eternal', 'Final', 'Golden', 'Hidden', 'Iron', 'Jade', 'Knight',
  'Lost', 'Mega', 'Night', 'Ocean', 'Phantom', 'Quest', 'Rocket', 'Silver', 'Turbo', 'Ultra', 'Valley', 'Winter', 'Xeno',
  'Young', 'Zero', 'Castle', 'Fighter', 'Garden', 'Island', 'Legend', 'Racer', 'Soccer', 'Tactics', 'Wars', 'World']
const GENRES = ['Action', 'Adventure', 'Fighting', 'Platform', 'Puzzle', 'Racing', 'Role-playing', 'Shooter', 'Simulation',
  'Sport', 'Strategy', 'Arcade', 'Pinball', 'Quiz', 'Music']
const REGIONS = ['USA', 'Europe', 'Japan', 'World', 'Germany', 'France', 'Brazil', 'Korea']
const LANGUAGES = ['English', 'Japanese', 'German', 'French', 'Spanish', 'Italian']
const TAGS = ['Beta', 'Demo', 'Unl', 'Aftermarket', 'Hack']
const RATINGS = ['E', 'T', 'M', 'PEGI 7', 'PEGI 12']

const toArray = (values: readonly string[]) => `'{${values.map((value) => `"${value}"`).join(',')}}'::text[]`

/** Returns SQL for a number from 0 to 1 that depends only on the row. */
const chance = (salt: number, of = 'n') => `((hashint8extended(${of}, ${salt}) & 16777215) / 16777216.0)`
const among = (values: readonly string[], salt: number, of = 'n') =>
  `(${toArray(values)})[1 + floor(${chance(salt, of)} * ${values.length})::int]`
/** Returns SQL for a list of one value in this share of the rows, and an empty list in the others. */
const someOf = (values: readonly string[], salt: number, share: number) =>
  `case when ${chance(salt)} < ${share} then array[${among(values, salt + 1)}] else '{}' end`
const platformOf = (game: string) => `1 + floor(power(${chance(1, game)}, 2) * ${PLATFORMS.length})::int`

/** Three of five successive ROMs are one game in three regions. */
const ROMS = `with numbered as (select n, case when n % 5 < 3 then n / 5 * 5 else n end as game from generate_series(1, $1::bigint) n),
  titled as materialized (select *, ${platformOf('game')} as platform, ${among(WORDS, 2, 'game')} || ' ' || ${among(WORDS, 3, 'game')} as words,
    (${toArray(REGIONS)})[1 + (n % 5 + game % 4)::int] as region from numbered)
  insert into roms (id, platform_id, fs_name, fs_path, fs_extension, fs_name_no_tags, fs_name_no_ext, fs_size_bytes, name,
    name_sort_key, slug, summary, genres, franchises, collections, companies, game_modes, age_ratings, min_age, player_count,
    first_release_date, average_rating, regions, languages, tags, crc_hash, md5_hash, sha1_hash, ra_hash, path_cover_small,
    path_cover_large, is_identified, missing_from_fs, created_at, updated_at)
  select n, platform, words || ' ' || game || ' (' || region || ').zip', 'roms/' || (${toArray(PLATFORMS)})[platform], 'zip',
    words || ' ' || game, words || ' ' || game || ' (' || region || ')', (${chance(10)} * 4e6)::bigint, words || ' ' || game,
    lower(words) || ' ' || lpad(game::text, 12, '0'), replace(lower(words), ' ', '-') || '-' || game,
    repeat(words || ' tells of a journey over many islands. ', 6), array[${among(GENRES, 11)}, ${among(GENRES, 12)}],
    ${someOf(WORDS, 13, 0.2)}, ${someOf(WORDS, 15, 0.1)}, array['Harbor Works ' || floor(${chance(17)} * 2000)],
    '{Single player}', ${someOf(RATINGS, 18, 0.6)}, case when ${chance(18)} < 0.6 then floor(${chance(20)} * 19)::int end,
    ${among(['1', '1-2', '1-4'], 21)}, (${chance(22)} * 1.2e12)::bigint, ${chance(23)} * 100, array[region],
    ${someOf(LANGUAGES, 24, 0.5)}, ${someOf(TAGS, 26, 0.1)}, left(md5(n::text), 8), md5(n::text), md5(n::text) || left(md5(n::text), 8),
    case when ${chance(28)} < 0.3 then md5('ra' || n) end, 'roms/' || n || '/small.webp', 'roms/' || n || '/large.webp',
    ${chance(30, 'game')} < 0.8, ${chance(29)} < 0.01, now() - ${chance(31)} * interval '900 days',
    now() - ${chance(32)} * interval '90 days'
  from titled`

const FILES = `insert into rom_files (rom_id, file_name, file_path, file_size_bytes, last_modified, crc_hash, md5_hash, sha1_hash, ra_hash)
  select id, fs_name, fs_path, fs_size_bytes, updated_at, crc_hash, md5_hash, sha1_hash, ra_hash from roms`

/** Inserts a provider's matches for a share of the games. ROMs of one game have one id. */
const matchesOf = (provider: string, share: number) => `insert into rom_matches (rom_id, provider, provider_id, match)
  select id, '${provider}', split_part(slug, '-', 3), jsonb_build_object('provider_id', split_part(slug, '-', 3), 'name', name,
    'metadata', jsonb_build_object('summary', summary, 'genres', genres, 'companies', companies, 'total_rating', average_rating))
  from roms where ${chance(30, "split_part(slug, '-', 3)::bigint")} < ${share}`

const MARKS = `insert into rom_users (rom_id, user_id, last_played, now_playing, backlogged, hidden, rating, status)
  select id, $1, case when id % 300 = 0 then updated_at end, id % 900 = 0, id % 500 = 0, id % 1700 = 0, id % 11,
    case when id % 300 = 0 then 'finished' end
  from roms where id % 300 = 0 or id % 500 = 0 or id % 1700 = 0`

const SAVES = `insert into assets (kind, user_id, rom_id, platform_fs_slug, rom_fs_name, file_name, sha1, disk_path)
  select 'save', $1, r.id, p.fs_slug, r.fs_name, r.fs_name_no_ext || '.srm', r.sha1_hash, 'saves/' || r.id
  from roms r join platforms p on p.id = r.platform_id where r.id % 600 = 0`

interface Index { name: string, definition: string }

/** Indexes of the large tables that no constraint needs. Recreating them is faster than updating them. */
const INDEXES = `select i.indexname as name, i.indexdef as definition from pg_indexes i
  where i.schemaname = 'public' and i.tablename in ('roms', 'rom_names', 'rom_values', 'rom_files', 'rom_matches')
    and not exists (select 1 from pg_constraint c where c.conname = i.indexname)`

async function insertAll (
  client: pg.ClientBase, roms: number, userId: number, tell: (done: string) => void
): Promise<void> {
  await client.query('insert into platforms (id, slug, fs_slug, name) select n, slug, slug, initcap(slug) ' +
    `from unnest(${toArray(PLATFORMS)}) with ordinality as platform (slug, n)`)
  await client.query(ROMS, [roms])
  tell('ROMs')
  await client.query(FILES)
  tell('files')
  for (const [provider, share] of [['igdb', 0.75], ['ss', 0.4], ['ra', 0.2]] as const) {
    await client.query(matchesOf(provider, share))
  }
  await client.query(INSERT_ALL_NAMES)
  await client.query(INSERT_VALUES_OF_ALL)
  await client.query(INSERT_ALL_GAMES)
  for (const counts of [...INSERT_ALL_COUNTS, INSERT_ALL_VALUES, INSERT_ALL_REGIONS]) await client.query(counts)
  tell('matches')
  await client.query(MARKS, [userId])
  await client.query(SAVES, [userId])
  for (const table of ['platforms', 'roms']) {
    await client.query(`select setval('${table}_id_seq', (select max(id) from ${table}))`)
  }
}

/**
 * Replaces the library of a database by one of any size, as a scan with several providers would store it. The same
 * number gives the same ROMs. A million takes about a minute. It needs a superuser, because all checks are off.
 *
 * @param userId a user who played, marked and hid some of them, and has saves
 * @param tell receives progress
 */
export async function seedLibrary (
  client: pg.ClientBase, roms: number, userId: number, tell: (done: string) => void = () => {}
): Promise<void> {
  await client.query('begin')
  await client.query('set local session_replication_role = replica')
  await client.query("set local maintenance_work_mem = '256MB'")
  // Tables that were emptied in this transaction need no write-ahead log.
  await client.query('truncate platforms, roms, rom_names, rom_values, library_counts cascade')
  const { rows: indexes } = await client.query<Index>(INDEXES)
  for (const { name } of indexes) await client.query(`drop index "${name}"`)
  await insertAll(client, roms, userId, tell)
  for (const { name, definition } of indexes) {
    await client.query(definition)
    tell(name)
  }
  await client.query('commit')
  await client.query("select move_library_version('edits', 0)")
  await client.query('vacuum analyze')
  tell('statistics')
}
