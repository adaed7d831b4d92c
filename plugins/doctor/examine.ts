import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Config } from '../../core/config/config.ts'
import { directUrlOf } from '../../core/config/database-urls.ts'
import { dataDirOf } from '../../core/config/data-dir.ts'
import { type Environment, settingsEnvironment } from '../../core/config/environment.ts'
import { StartError } from '../../core/errors.ts'
import type { Features } from '../../core/feature.ts'
import { NEVER, limitTime } from '../../core/concurrency/limit-time.ts'
import { checkFolders } from '../../core/supervisor/folders.ts'
import { type ServerState, readServerState } from '../../core/supervisor/server-state.ts'
import { examineAddress } from './address.ts'
import { examineCluster, examineDatabase } from './database.ts'
import { examineDisk } from './disk.ts'
import { type Finding, type CheckInput, fail, ok, reasonOf, warn } from './finding.ts'
import { examineHosts } from './hosts.ts'
import { examineLibraries } from './libraries.ts'
import { examineMail } from './mail.ts'
import { examinePlugins } from './plugins.ts'
import { examinePooler } from './pooler.ts'
import { examineStore } from './store.ts'
import { examineZone } from './zone.ts'

/** Limit for all checks of one subject. Most take milliseconds, those of plugins take seconds. */
const SUBJECT_MS = 40_000
const CONNECT_MS = 5_000
/** The subjects that need the database, and are checked one after the other. */
const STORED_SUBJECTS = 3
/** Limit for the examination of all files. */
const FULL_MS = 3_600_000
/** Stands in for the key that the server creates at its first start, because nothing is signed here. */
const NO_KEY = 'nothing is signed with this'

/** Returns the variables, with a stand-in for a missing key, because reading the settings must not create it. */
function readSettings (): Environment {
  const given = settingsEnvironment()
  const hasKey = existsSync(join(dataDirOf(given), 'secret.key'))
  return hasKey ? given : { SVC_AUTH_SECRET_KEY: NO_KEY, ...given }
}

interface ReadConfig { config: Config | null, findings: Finding[] }

/** Returns the configuration; null if it is invalid. */
async function readConfig (features: Features, settings: Environment): Promise<ReadConfig> {
  const file = join(dataDirOf(settings), 'config.yml')
  const remedy = 'Correct the setting; svc config prints all settings with their variables'
  const explain = (err: unknown) => (err instanceof StartError ? err.message : `The settings cannot be read: ${reasonOf(err)}`)
    .split('\n').map((line) => fail('settings', line, remedy))
  try {
    const { config, warnings } = await features.loadConfig(settings)
    const refused = await checkFolders(config).then(() => [], explain)
    const found = [...warnings.map((text) => warn('settings', text, remedy)), ...refused]
    const okMessage = existsSync(file) ? `${file} and the environment are valid` : 'The environment is valid; there is no config.yml'
    return { config, findings: found.length > 0 ? found : [ok('settings', okMessage)] }
  } catch (err) {
    return { config: null, findings: explain(err) }
  }
}

/** No running server uses a data directory that cannot be locked. The check of the directory reports the reason. */
function findState (config: Config): ServerState | null {
  try {
    return readServerState(config.data_dir)
  } catch {
    return null
  }
}

/** Runs the checks of one subject. A failure affects no other subject. */
async function attempt (subject: string, work: () => Promise<Finding[]>, ms = SUBJECT_MS): Promise<Finding[]> {
  try {
    return await limitTime('no answer within', ms, NEVER, work)
  } catch (err) {
    return [fail(subject, `This check could not be completed: ${reasonOf(err)}`, 'Correct the cause in the message, then run this command again')]
  }
}

async function examineStored (input: CheckInput): Promise<Finding[]> {
  const { config, state } = input
  const url = directUrlOf(config) ?? state?.database_url
  const subjectMs = input.isFull ? FULL_MS : SUBJECT_MS
  if (url === undefined) {
    return [
      examineCluster(input),
      ...await attempt('library', () => examineLibraries(config, null)),
      ...await attempt('store', () => examineStore(input, null))
    ]
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: input.isFull ? FULL_MS : CONNECT_MS
  })
  pool.on('error', () => { /* the next query reports the error */ })
  try {
    const { isCurrent, findings } = await examineDatabase(pool, input)
    const current = isCurrent ? pool : null
    return [
      ...findings,
      ...(current === null ? [] : await attempt('hosts', () => examineHosts(input, current))),
      ...await attempt('library', () => examineLibraries(config, current)),
      ...await attempt('store', () => examineStore(input, current), subjectMs)
    ]
  } finally {
    await pool.end()
  }
}

/** Checks everything that a server needs, whether or not it runs, and changes nothing. */
export async function examineAll (
  features: Features, { mailTo, isFull }: Pick<CheckInput, 'mailTo' | 'isFull'>
): Promise<Finding[]> {
  const settings = readSettings()
  const { config, findings } = await readConfig(features, settings)
  if (config === null) return findings
  const input: CheckInput = { features, config, settings, state: findState(config), mailTo, isFull }
  const found = await Promise.all([
    attempt('data directory', () => examineDisk(input)),
    attempt('database', () => examineStored(input), isFull ? FULL_MS : SUBJECT_MS * STORED_SUBJECTS),
    attempt('pooler', () => examinePooler(input)),
    attempt('address', () => examineAddress(input)),
    attempt('plugins', () => examinePlugins(input)),
    attempt('mail', () => examineMail(input))
  ])
  return [...findings, ...examineZone(process.env.TZ), ...found.flat()]
}
