import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import type { Config } from '../../core/config/config.ts'
import { listExecuted } from '../../core/database/database.ts'
import { CONNECTIONS_REMEDY, hasTooManyConnections } from '../../core/database/errors.ts'
import { findNewer, findUnusable } from '../../core/database/known-schema.ts'
import { countConnections, countProcesses } from '../../core/supervisor/database.ts'
import { migrations } from '../migrations.ts'
import { type Finding, type CheckInput, fail, ok, reasonOf, warn } from './finding.ts'
import { type DatabaseFacts, type HostRow, selectFacts, selectHosts, selectIdentity } from './rows.ts'

const SUBJECT = 'database'
const VERSION_MIN = 150_000
/** The largest accepted difference of clocks, because sessions and codes last seconds to minutes. */
const SKEW_MAX_MS = 2_000

/** Returns the remedy for a database that refuses this command, or is not reached. */
function findRemedy (err: unknown, { database }: Config): string {
  if (hasTooManyConnections(err)) return CONNECTIONS_REMEDY
  return database.url === undefined
    ? 'See the log of the server, then restart the server'
    : 'Check SVC_DATABASE_URL, and that the database runs and accepts connections from this machine'
}

const majorOf = (version: number) => Math.floor(version / 10_000)

function examineClock (before: number, after: number, { now_ms: now }: DatabaseFacts): Finding {
  const ownNow = (before + after) / 2
  const skewMs = Math.max(0, Math.abs(now - ownNow) - (after - before) / 2)
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const subject = 'clock'
  if (skewMs > SKEW_MAX_MS) {
    return fail(subject, `The clocks of this machine and of the database differ by ${(skewMs / 1_000).toFixed(1)} s`,
      'Synchronise both with a time server (NTP), because tokens, codes and schedules depend on them')
  }
  return ok(subject, `${new Date().toISOString()}, equal to the clock of the database; time zone ${zone}, schedules are in UTC`)
}

/** @returns true if the tables belong to this release */
function examineSchema (
  applied: readonly string[], { state }: CheckInput
): { isCurrent: boolean, finding: Finding } {
  const subject = 'schema'
  const unusable = findUnusable(applied, migrations)
  if (unusable !== undefined) {
    return {
      isCurrent: false,
      finding: fail(subject, `The database was made by a newer release, or a preview of the first (migration ${unusable})`,
        'Start that release, or restore a backup from before the upgrade')
    }
  }
  const newer = findNewer(applied, migrations)
  if (newer !== undefined) {
    return {
      isCurrent: true,
      finding: warn(subject, `Another host has a newer release (migration ${newer}), with which this one works for the time of an upgrade`,
        'Upgrade this host too')
    }
  }
  const pending = migrations.length - applied.length
  if (pending === 0) return { isCurrent: true, finding: ok(subject, `All ${migrations.length} migrations are applied`) }
  const message = `${pending} of ${migrations.length} migrations are not applied`
  const finding = state === null
    ? ok(subject, `${message}; the next start applies them`)
    : warn(subject, message, 'Restart the server, because its release is older than this command')
  return { isCurrent: false, finding }
}

async function examineIdentity (pool: pg.Pool, { config: { data_dir: dataDir } }: CheckInput): Promise<Finding[]> {
  const file = join(dataDir, 'identity')
  const identity = await selectIdentity(pool)
  if (identity === null || !existsSync(file)) return []
  const folderIdentity = readFileSync(file, 'utf8').trim()
  if (folderIdentity === identity) return []
  return [fail('identity', `The data directory ${dataDir} belongs to another database (${folderIdentity} instead of ${identity})`,
    'Point SVC_DATA_DIR and SVC_DATABASE_URL at a matching pair; to join these two from now on, run svc database adopt')]
}

function examineReplication ({ is_writable: isWritable, lacks_standby: lacksStandby }: DatabaseFacts): Finding[] {
  if (!isWritable) {
    return [fail(SUBJECT, 'The database can only be read, because it is a standby or its server allows no writes',
      'Promote the standby (select pg_promote()), or set SVC_DATABASE_URL to the address of the primary')]
  }
  return lacksStandby
    ? [fail(SUBJECT, 'Every write waits for a standby that is not connected (synchronous_standby_names)',
        'Start the standby; to go on without it, run alter system set synchronous_standby_names = \'\' and select pg_reload_conf()')]
    : []
}

function examineFacts ({ version }: DatabaseFacts, { config }: CheckInput): Finding[] {
  if (version < VERSION_MIN) {
    return [fail(SUBJECT, `PostgreSQL ${majorOf(version)} is too old`,
      'Point SVC_DATABASE_URL at version 15 or later, or unset it')]
  }
  const isOwn = config.database.url === undefined
  return [ok(SUBJECT, `PostgreSQL ${majorOf(version)}${isOwn ? ', embedded,' : ''} answers`)]
}

/** Compares the limit of connections with what the running hosts, or this one, may open. */
function examineConnections (
  { max_connections: max }: DatabaseFacts, config: Config, hosts: readonly HostRow[]
): Finding[] {
  const most = countProcesses(config)
  // A host with both roles is a whole server, which starts more web workers when it is busy.
  const countOf = ({ roles, workers }: HostRow) => roles.length > 1 ? Math.max(workers.length, most) : workers.length
  const processes = hosts.length === 0 ? most : hosts.reduce((sum, host) => sum + countOf(host), 0)
  const wanted = countConnections(config, processes)
  if (max >= wanted || config.database.url === undefined) return []
  const who = hosts.length > 1 ? `the ${hosts.length} hosts` : 'this configuration'
  return [warn(SUBJECT, `It accepts ${max} connections, but ${who} may open ${wanted}`,
    `Set max_connections to ${wanted}, or lower SVC_DATABASE_POOL_SIZE or WEB_SERVER_CONCURRENCY`)]
}

/** Checks the database's own facts. `isCurrent` is true if further queries can work. */
export async function examineDatabase (
  pool: pg.Pool, input: CheckInput
): Promise<{ isCurrent: boolean, findings: Finding[] }> {
  try {
    const before = Date.now()
    const facts = await selectFacts(pool)
    const clock = examineClock(before, Date.now(), facts)
    const schema = examineSchema(await listExecuted(pool), input)
    const identity = schema.isCurrent ? await examineIdentity(pool, input) : []
    const connections = examineConnections(facts, input.config, schema.isCurrent ? await selectHosts(pool) : [])
    const findings = [
      ...examineFacts(facts, input), ...connections, ...examineReplication(facts), schema.finding, ...identity, clock
    ]
    return { isCurrent: schema.isCurrent, findings }
  } catch (err) {
    const remedy = findRemedy(err, input.config)
    return { isCurrent: false, findings: [fail(SUBJECT, `The database does not answer: ${reasonOf(err)}`, remedy)] }
  }
}

/** Checks the embedded database, which runs only together with the server. */
export function examineCluster ({ config: { data_dir: dataDir } }: CheckInput): Finding {
  const file = join(dataDir, 'db', 'PG_VERSION')
  try {
    return existsSync(file)
      ? ok(SUBJECT, `PostgreSQL ${readFileSync(file, 'utf8').trim()}, embedded, starts with the server; run this command again while the server runs for more checks`)
      : ok(SUBJECT, 'The first start creates the embedded database')
  } catch (err) {
    return fail(SUBJECT, `${file} cannot be read: ${reasonOf(err)}`, 'Give the user of the server the right to read that folder')
  }
}
