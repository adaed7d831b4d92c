import { createHash } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Db, Queryable } from '../../database/db.ts'
import { toDatabaseJson } from '../../database/json.ts'
import { VERSION } from '../../version.ts'
import type { PluginPackage } from '../packages/packages.ts'
import type { Description, PluginReport } from '../registry.ts'

/** Days after which snapshots of ended workers and other installations are deleted. */
const KEPT_DAYS = 30
/** A channel of the database; its payload is the fingerprint of the changed snapshot. */
export const PLUGINS_CHANGED = 'svc_plugins'

/** Returns a package's own files, without its dependencies, each with its size and time to detect changes. */
function listFiles (folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.name === 'node_modules' || entry.name === 'test') return []
    const facts = statSync(path, { throwIfNoEntry: false })
    if (facts === undefined) return []
    return facts.isDirectory() ? listFiles(path) : [`${path} ${facts.size} ${facts.mtimeMs}`]
  })
}

/** Returns a fingerprint that stays the same while the same packages are installed on this machine, for this server. */
export function fingerprintOf (packages: readonly PluginPackage[]): string {
  const facts = packages.map((pack) => [pack, existsSync(pack.folder) ? listFiles(pack.folder).sort() : []])
  return createHash('sha256').update(JSON.stringify([VERSION, process.version, facts])).digest('hex')
}

export interface Snapshot {
  descriptions: Description[]
  /** The scan worker that wrote `reports`; null before there was one. */
  worker: string | null
  reports: PluginReport[]
}

export async function readSnapshot (database: Queryable, fingerprint: string): Promise<Snapshot | null> {
  const { rows } = await database.query<Snapshot>(
    'select descriptions, worker, reports from plugin_snapshots where fingerprint = $1', [fingerprint])
  return rows[0] ?? null
}

export async function storeDescriptions (
  database: Queryable, fingerprint: string, descriptions: readonly Description[]
): Promise<void> {
  await database.query(`insert into plugin_snapshots (fingerprint, descriptions) values ($1, $2::jsonb)
    on conflict (fingerprint) do update set descriptions = excluded.descriptions, stored_at = now()`,
  [fingerprint, toDatabaseJson(descriptions)])
  await database.query(`delete from plugin_snapshots where stored_at < now() - interval '${KEPT_DAYS} days'`)
}

/** Stores the state of the plugins in a scan worker and notifies all processes. */
export async function storeReports (
  db: Db, fingerprint: string, worker: string, reports: readonly PluginReport[]
): Promise<void> {
  await db.query('update plugin_snapshots set worker = $2, reports = $3::jsonb, stored_at = now() where fingerprint = $1',
    [fingerprint, worker, toDatabaseJson(reports)])
  await db.query('select pg_notify($1, $2)', [PLUGINS_CHANGED, fingerprint])
}
