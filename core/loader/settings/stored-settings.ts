import type { FastifyBaseLogger } from 'fastify'
import type { Secrets } from '../../access/secrets.ts'
import type { Db, Queryable } from '../../database/db.ts'

/** A channel of the database: settings of plugins were stored. */
export const PLUGIN_SETTINGS_CHANGED = 'svc_plugin_settings'
const PURPOSE = 'plugin-settings'

/** The stored values of one plugin by setting. */
export type StoredValues = Readonly<Record<string, unknown>>

/** The settings of plugins that administrators stored in the database, as this process knows them. */
export interface StoredSettings {
  of (kind: string, key: string): StoredValues
  /** Reads the changes since the last call. @returns the plugins whose settings changed */
  refresh (): Promise<{ kind: string, key: string }[]>
}

interface Row { plugin: string, sealed: string }

/** Decrypts stored values; null if the server's key changed. */
function openValues (secrets: Secrets, sealed: string): StoredValues | null {
  const text = secrets.open(PURPOSE, sealed)
  return text === null ? null : JSON.parse(text) as StoredValues
}

/** Reads the stored values of all plugins, by kind and key as in `provider/igdb`; without those of another key. */
export async function readStoredValues (database: Queryable, secrets: Secrets): Promise<Record<string, StoredValues>> {
  const { rows } = await database.query<Row>('select plugin, sealed from plugin_settings')
  return Object.fromEntries(rows.map(({ plugin, sealed }) => [plugin, openValues(secrets, sealed) ?? {}]))
}

/**
 * Changes the stored values of one plugin and notifies all processes. Two changes at once run one after the other.
 *
 * @param change returns the new values; empty ones delete the row
 */
export async function changeStoredValues (
  tx: Queryable, secrets: Secrets, plugin: string, change: (values: StoredValues) => StoredValues
): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`plugin settings of ${plugin}`])
  const { rows: [row] } = await tx.query<Row>('select plugin, sealed from plugin_settings where plugin = $1', [plugin])
  const values = change(row === undefined ? {} : openValues(secrets, row.sealed) ?? {})
  if (Object.keys(values).length === 0) await tx.query('delete from plugin_settings where plugin = $1', [plugin])
  else {
    await tx.query(`insert into plugin_settings (plugin, sealed) values ($1, $2)
      on conflict (plugin) do update set sealed = excluded.sealed`,
    [plugin, secrets.seal(PURPOSE, JSON.stringify(values))])
  }
  await tx.query('select pg_notify($1, $2)', [PLUGIN_SETTINGS_CHANGED, plugin])
}

/** Opens the stored settings of all plugins. Values that another key of the server encrypted are ignored. */
export async function openStoredSettings (
  db: Db, secrets: Secrets, log: Pick<FastifyBaseLogger, 'warn'>
): Promise<StoredSettings> {
  let current = new Map<string, { values: StoredValues, mark: string }>()

  function readRow ({ plugin, sealed }: Row): StoredValues {
    const values = openValues(secrets, sealed)
    if (values !== null) return values
    log.warn({ plugin }, 'the stored settings of the plugin cannot be decrypted, because the key of the server changed; enter them again')
    return {}
  }

  async function refresh (): Promise<{ kind: string, key: string }[]> {
    const { rows } = await db.query<Row>('select plugin, sealed from plugin_settings')
    const former = current
    // Each encryption has a random part, so a changed row has another sealed text.
    current = new Map(rows.map((row) => {
      const known = former.get(row.plugin)
      return [row.plugin, known?.mark === row.sealed ? known : { values: readRow(row), mark: row.sealed }]
    }))
    const plugins = [...new Set([...former.keys(), ...current.keys()])]
    return plugins.filter((plugin) => former.get(plugin) !== current.get(plugin)).map((plugin) => {
      const [kind = '', ...key] = plugin.split('/')
      return { kind, key: key.join('/') }
    })
  }

  await refresh()
  return { of: (kind, key) => current.get(`${kind}/${key}`)?.values ?? {}, refresh }
}
