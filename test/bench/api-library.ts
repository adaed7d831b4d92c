import type pg from 'pg'
import { SCOPES } from '../../core/access/scopes.ts'
import { sha256 } from '../../core/access/secrets.ts'

/** The token of an administrator who has marked nothing. */
export const TOKEN = 'svc_bench_token'
/** The token of a user with marks, hidden ROMs and a smart collection. */
export const PERSON_TOKEN = 'svc_bench_person'
const PLATFORMS = 40

const USER = 'insert into users (username, role) values ($1, $2) returning id'
const CLIENT_TOKEN = `insert into client_tokens (user_id, name, token_hash, scopes, last_used_at)
  values ($1, 'bench', $2, $3, now() + interval '1 day')`
const PLATFORM_ROWS = `insert into platforms (slug, fs_slug, name)
  select 'bench-' || n, 'bench-' || n, 'Platform ' || n from generate_series(1, $1::int) n`
const ROM_ROWS = `insert into roms (platform_id, fs_name, fs_path, fs_extension, fs_name_no_tags, fs_name_no_ext, fs_size_bytes,
    name, name_sort_key, summary, genres, companies, regions, languages, crc_hash, md5_hash, sha1_hash, is_identified)
  select p.id, 'Game ' || lpad(n::text, 7, '0') || ' (Europe).zip', 'roms/' || p.fs_slug, 'zip', 'Game ' || n,
    'Game ' || lpad(n::text, 7, '0') || ' (Europe)', 100000 + n, 'Game ' || n, 'game ' || lpad(n::text, 7, '0'),
    repeat('A game about number ' || n || '. ', 12), array['Platform', 'Puzzle'], array['Company ' || n % 500], array['Europe'],
    array['en', 'de'], left(md5(n::text), 8), md5(n::text), md5(n::text) || left(md5('x' || n), 8), n % 10 < 7
  from generate_series(1, $1::int) n join platforms p on p.slug = 'bench-' || (n % $2 + 1) order by n`
const FILE_ROWS = `insert into rom_files (rom_id, file_name, file_path, file_size_bytes, last_modified, crc_hash, md5_hash, sha1_hash)
  select id, fs_name, fs_path, fs_size_bytes, created_at, crc_hash, md5_hash, sha1_hash from roms`
/** Seven in ten ROMs have matches. In every twenty, two successive ROMs of a platform are one game. */
const MATCH_ROWS = `insert into rom_matches (rom_id, provider, provider_id, match)
  select r.id, 'igdb', i.id, jsonb_build_object('id', i.id, 'metadata', jsonb_build_object('total_rating', '80',
    'genres', r.genres, 'companies', r.companies, 'game_modes', array['Single player'],
    'similar_games', (select jsonb_agg(jsonb_build_object('id', s, 'name', 'Similar game ' || s, 'type', 'similar',
      'cover_url', 'https://images.example.org/' || md5(s::text) || '.jpg')) from generate_series(1, 5) s)))
  from roms r, lateral (select (r.id - case when r.id / $1 % 20 = 1 then $1 else 0 end)::text as id) i where r.is_identified`

/** Marks every tenth ROM, and hides every hundredth. */
const MARKS = `insert into rom_users (rom_id, user_id, backlogged, rating, hidden)
  select id, $1, true, id % 11, id % 100 = 0 from roms where id % 10 = 0`
const SMART = "insert into smart_collections (user_id, name, filter_criteria) values ($1, 'Puzzles', $2)"

async function addUser (pool: pg.Pool, name: string, role: string, token: string): Promise<number> {
  const { rows: [user] } = await pool.query<{ id: number }>(USER, [name, role])
  await pool.query(CLIENT_TOKEN, [user?.id, sha256(token), SCOPES])
  return user?.id ?? NaN
}

/** Fills an empty database with this number of ROMs, and two users with tokens. */
export async function fillLibrary (pool: pg.Pool, roms: number): Promise<void> {
  await addUser(pool, 'bench-api', 'admin', TOKEN)
  const person = await addUser(pool, 'bench-person', 'user', PERSON_TOKEN)
  await pool.query(PLATFORM_ROWS, [PLATFORMS])
  await pool.query(ROM_ROWS, [roms, PLATFORMS])
  await pool.query(FILE_ROWS)
  await pool.query(MATCH_ROWS, [PLATFORMS])
  await pool.query(MARKS, [person])
  await pool.query(SMART, [person, { genres: ['Puzzle'] }])
  await pool.query('vacuum analyze')
}
