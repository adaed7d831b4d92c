import type { Secrets } from '../../core/access/secrets.ts'
import type { Queryable } from '../../core/database/db.ts'
import { isContent } from './content.ts'
import type { SharedSection } from './shared-sections.ts'

/** The key of the advisory lock on config.yml: a number that nothing else uses. */
const CONFIG_LOCK = 7_364_140
/** A channel of the database: the settings of all hosts changed. */
export const SETTINGS_CHANGED = 'svc_shared_settings'
const PURPOSE = 'shared-settings'
/** The time of a row in milliseconds. */
const CHANGED_AT = '(extract(epoch from changed_at) * 1000)::float8 as changed_at'

/** Locks config.yml until the transaction ends, so that one process at a time changes it. */
export async function lockConfigFile (tx: Queryable): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [CONFIG_LOCK])
}

interface Row { section: string, sealed: string, changed_by: string, changed_at: number }

/** Returns the value of a row; null if another key sealed it, or if it belongs to another section. */
function open (secrets: Secrets, { section, sealed }: Row): { value: unknown } | null {
  const text = secrets.open(PURPOSE, sealed)
  const content: unknown = text === null ? null : JSON.parse(text)
  return isContent(content) && content.section === section ? { value: content.value ?? undefined } : null
}

/** Reads the settings of all hosts. Nobody without the secret key of the server can read or forge them. */
export async function selectShared (
  database: Queryable, secrets: Secrets
): Promise<{ shared: Map<string, SharedSection>, refused: string[] }> {
  const { rows } = await database.query<Row>(`select section, sealed, changed_by, ${CHANGED_AT}
    from shared_settings order by section`)
  const opened = rows.map((row) => ({ row, content: open(secrets, row) }))
  return {
    shared: new Map(opened.flatMap(({ row, content }) => content === null
      ? []
      : [[row.section, { value: content.value, changedAt: row.changed_at, changedBy: row.changed_by }]])),
    refused: opened.flatMap(({ row, content }) => content === null ? [row.section] : [])
  }
}

/** Deletes sections that no host can open any more. */
export async function deleteShared (tx: Queryable, names: readonly string[]): Promise<void> {
  await tx.query('delete from shared_settings where section = any($1)', [names])
}

/** Stores sections for all hosts, and notifies the hosts at the end of the transaction. @returns the stored sections */
export async function storeShared (
  tx: Queryable, secrets: Secrets, host: string, sections: readonly { name: string, value: unknown }[]
): Promise<Map<string, SharedSection>> {
  const stored = new Map<string, SharedSection>()
  for (const { name, value } of sections) {
    const { rows } = await tx.query<{ changed_at: number }>(
      `insert into shared_settings (section, sealed, changed_by, changed_at) values ($1, $2, $3, clock_timestamp())
      on conflict (section) do update set sealed = excluded.sealed, changed_by = excluded.changed_by, changed_at = excluded.changed_at
      returning ${CHANGED_AT}`,
      [name, secrets.seal(PURPOSE, JSON.stringify({ section: name, value: value ?? null })), host])
    stored.set(name, { value, changedAt: rows[0]?.changed_at ?? 0, changedBy: host })
  }
  if (stored.size > 0) await tx.query('select pg_notify($1, $2)', [SETTINGS_CHANGED, ''])
  return stored
}

/** Stores why `config.yml` of this host is not that of all hosts; null if it is. */
export async function updateProblem (database: Queryable, workerId: string, problem: string | null): Promise<void> {
  await database.query('update workers set settings_problem = $2 where id = $1', [workerId, problem])
}
