import type pg from 'pg'

export interface DatabaseFacts {
  /** The version as a number, such as 180004. */
  version: number
  max_connections: number
  /** The clock of the database in milliseconds since 1970. */
  now_ms: number
}

export async function selectFacts (pool: pg.Pool): Promise<DatabaseFacts> {
  const { rows } = await pool.query<DatabaseFacts>(`select current_setting('server_version_num')::int as version,
    current_setting('max_connections')::int as max_connections,
    extract(epoch from clock_timestamp())::float8 * 1000 as now_ms`)
  return rows[0] ?? { version: 0, max_connections: 0, now_ms: 0 }
}

/** Reads the identity of the data directory that belongs to the database; null before the first start. */
export async function selectIdentity (pool: pg.Pool): Promise<string | null> {
  return (await pool.query<{ identity: string }>('select identity from installation')).rows[0]?.identity ?? null
}
