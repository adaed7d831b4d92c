import { sql } from 'kysely'
import type { Db } from '../../core/database/db.ts'
import { ALIVE_WORKERS } from '../../core/jobs/workers.ts'
import { LINES_MAX, type LogEntry } from './schemas.ts'

/** True if hosts of more than one name use the database. Lines name hosts, so equal names would distinguish nothing. */
export async function hasSeveralHosts (db: Db): Promise<boolean> {
  const { rows: [counted] } = await db.query<{ count: number }>(`select count(distinct w.host_name)::int as count from ${ALIVE_WORKERS}`)
  return (counted?.count ?? 0) > 1
}

/** Stores lines in their order, and deletes the oldest lines above the limit. */
export async function addLines (db: Db, entries: readonly LogEntry[]): Promise<void> {
  const column = <Name extends keyof LogEntry>(name: Name) => entries.map((entry) => entry[name])
  await db.query(`insert into log_lines (ts, level, module, message)
    select ts, level, module, message from unnest($1::bigint[], $2::text[], $3::text[], $4::text[])
      with ordinality as line (ts, level, module, message, position) order by position`,
  [column('ts'), column('level'), column('module'), column('message')])
  await db.query(`delete from log_lines where id <= (select id from log_lines order by id desc offset ${LINES_MAX} limit 1)`)
}

/** Selects the newest lines of all processes, oldest first. */
export async function selectLines (db: Db, limit: number): Promise<LogEntry[]> {
  const { rows } = await sql<LogEntry>`
    select ts, level, module, message from (
      select id, ts::float8 as ts, level, module, message from log_lines order by ts desc, id desc limit ${limit}) newest
    order by ts, id`.execute(db)
  return rows
}
