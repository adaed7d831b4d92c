import type pg from 'pg'
import type { Queryable } from '../../core/database/db.ts'
import { ALIVE_WORKERS } from '../../core/jobs/workers.ts'

/** A channel of the database: `svc doctor` asks all processes of all hosts. */
export const QUESTIONS = 'svc_doctor_questions'
/** A channel of the database: the processes answer. */
const ANSWERS = 'svc_doctor_answers'

export interface DatabaseFacts {
  /** The version as a number, such as 180004. */
  version: number
  max_connections: number
  /** The clock of the database in milliseconds since 1970. */
  now_ms: number
  /** False on a standby that is not promoted. */
  is_writable: boolean
  /** True if each write waits for a standby, and none is connected. */
  lacks_standby: boolean
}

export async function selectFacts (pool: pg.Pool): Promise<DatabaseFacts> {
  const { rows } = await pool.query<DatabaseFacts>(`select current_setting('server_version_num')::int as version,
    current_setting('max_connections')::int as max_connections,
    extract(epoch from clock_timestamp())::float8 * 1000 as now_ms,
    current_setting('transaction_read_only') = 'off' as is_writable,
    current_setting('synchronous_standby_names') <> '' and not exists (select from pg_stat_replication
      -- Null for a role that may not read it.
      where sync_state is null or sync_state in ('sync', 'quorum')) as lacks_standby`)
  return rows[0] ?? { version: 0, max_connections: 0, now_ms: 0, is_writable: false, lacks_standby: false }
}

/** A file of the store that a row names, with its size if the row has it. */
export interface NamedFile { key: string, size: number | null }

/** The uploads that rows name. */
const NAMED_FILES = `select 'assets/' || path as key, size from (select disk_path as path, file_size_bytes::float8 as size from assets
  union all select disk_path, file_size_bytes::float8 from asset_versions
  union all select disk_path, file_size_bytes::float8 from webdav_files where disk_path is not null
  union all select f->>'disk_path', (f->>'file_size_bytes')::float8
    from deleted_accounts, jsonb_array_elements(assets || versions) as f
  union all select avatar_path, null from users where avatar_path <> '') as named`

/** Selects the uploads that rows name. @param limit number of random ones; null for all */
export async function selectNamedFiles (client: pg.ClientBase | pg.Pool, limit: number | null): Promise<NamedFile[]> {
  const order = limit === null ? '' : 'order by random() limit $1'
  return (await client.query<NamedFile>(`${NAMED_FILES} ${order}`, limit === null ? [] : [limit])).rows
}

/** The paths of all artwork and manuals of a ROM `r`, in the resources folder. */
const PATHS_OF_ROM = `array[r.path_cover_large, r.path_cover_small, r.path_manual] || r.path_screenshots
  || array(select m.value ->> 'path' from jsonb_each(r.media) m)
  || array(select 'roms/' || r.platform_id || '/' || r.id || '/retroachievements/badges/' || badge from unnest(r.badges) badge)
  || array(select f.track_meta ->> 'cover_path' from rom_files f where f.rom_id = r.id and f.track_meta is not null)`

const toArtwork = (paths: string) => `select 'resources/' || path as key, null::float8 as size from ${paths} where path <> ''`
const ARTWORK_OF = `${toArtwork(`roms r, unnest(${PATHS_OF_ROM}) as path`)} and r.platform_id = $1`

/** Selects the artwork of a platform; for null, that of collections. */
export async function selectArtwork (pool: pg.Pool, platformId: number | null): Promise<NamedFile[]> {
  const { rows } = platformId === null
    ? await pool.query<NamedFile>(toArtwork('collections c, unnest(array[c.path_cover_large, c.path_cover_small]) as path'))
    : await pool.query<NamedFile>(ARTWORK_OF, [platformId])
  return rows
}

/** Selects some artwork of random ROMs. */
export async function selectSomeArtwork (pool: pg.Pool, limit: number): Promise<NamedFile[]> {
  const some = `(select id from roms order by random() limit $1) picked join roms r using (id), unnest(${PATHS_OF_ROM}) as path`
  return (await pool.query<NamedFile>(`${toArtwork(some)} order by random() limit $1`, [limit])).rows
}

export async function selectPlatformIds (pool: pg.Pool): Promise<number[]> {
  return (await pool.query<{ id: number }>('select id from platforms order by id')).rows.map(({ id }) => id)
}

/** Reads the identity of the data directory that belongs to the database; null before the first start. */
export async function selectIdentity (pool: pg.Pool): Promise<string | null> {
  return (await pool.query<{ identity: string }>('select identity from installation')).rows[0]?.identity ?? null
}

/** A running host: its live processes by role. */
export interface HostRow {
  host_name: string
  release: string
  address: string | null
  clock_ahead_ms: number
  roles: { role: string, count: number }[]
  duties: string[]
  /** The ids of its processes. */
  workers: string[]
  /** The reason why the host has other plugins than all hosts; null if it has not. */
  plugins_problem: string | null
  /** The reason why the host has another config.yml than all hosts; null if it has not. */
  settings_problem: string | null
}

/** Selects the running hosts. Processes of releases without hosts are left out. */
export async function selectHosts (pool: pg.Pool): Promise<HostRow[]> {
  const { rows } = await pool.query<HostRow>(`with alive as (select w.* from ${ALIVE_WORKERS} where w.host_id <> '')
    select min(host_name) as host_name, min(release) as release, max(address) as address,
      max(plugins_problem) as plugins_problem, max(settings_problem) as settings_problem, array_agg(id order by id) as workers,
      (array_agg(clock_ahead_ms order by abs(clock_ahead_ms) desc))[1] as clock_ahead_ms,
      (select json_agg(r order by r.role) from
        (select role, count(*)::int as count from alive a where a.host_id = h.host_id group by role) r) as roles,
      (select coalesce(array_agg(d order by d), '{}') from alive a, unnest(a.duties) d where a.host_id = h.host_id) as duties
    from alive h group by host_id order by 1`)
  return rows
}

/** The last change of the settings of all hosts. */
export interface SettingsChange { section: string, changed_by: string, changed_at: Date }

/** Selects the last change of the settings of all hosts; null if there was none. */
export async function selectSettingsChange (pool: pg.Pool): Promise<SettingsChange | null> {
  const { rows } = await pool.query<SettingsChange>('select section, changed_by, changed_at from shared_settings order by changed_at desc limit 1')
  return rows[0] ?? null
}

/** True if a scan worker runs on a machine of this name. */
export async function selectHasWorker (database: Queryable, hostName: string): Promise<boolean> {
  const { rows } = await database.query(`select 1 from ${ALIVE_WORKERS} where w.role = 'worker' and w.host_name = $1 limit 1`, [hostName])
  return rows.length > 0
}

/** Selects the time limits that a session lacks. */
export async function selectLimits (client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`select name from pg_settings where setting = '0'
    and name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') order by name`)
  return rows.map(({ name }) => name)
}

export const notifyAnswer = async (database: Queryable, payload: string): Promise<void> => {
  await database.query('select pg_notify($1, $2)', [ANSWERS, payload])
}

/** Asks all processes, and passes their answers to `receive` until the wait ends. */
export async function withAnswers (
  pool: pg.Pool, question: string, { receive, wait }: { receive (payload: string): void, wait (): Promise<void> }
): Promise<void> {
  const client = await pool.connect()
  const listener = ({ channel, payload = '' }: pg.Notification) => { if (channel === ANSWERS) receive(payload) }
  client.on('notification', listener)
  try {
    await client.query(`listen ${ANSWERS}`)
    await client.query('select pg_notify($1, $2)', [QUESTIONS, question])
    await wait()
  } finally {
    client.off('notification', listener)
    await client.query('unlisten *').finally(() => { client.release() })
  }
}
