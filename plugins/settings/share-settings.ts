import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyBaseLogger } from 'fastify'
import type { Secrets } from '../../core/access/secrets.ts'
import type { Config } from '../../core/config/config.ts'
import { describeProblem } from '../../core/config/follow-config.ts'
import type { Queryable } from '../../core/database/db.ts'
import { ApiError, StartError } from '../../core/errors.ts'
import { ifPresent } from '../../core/files/fs-error.ts'
import { checkFolders } from '../../core/supervisor/folders.ts'
import { type Content, UnchangeableError } from './content.ts'
import { checkFile, readTextOf, replaceText } from './file.ts'
import { deleteShared, selectShared, storeShared } from './rows.ts'
import {
  type CommonSection, type SectionState, type SharedSection, type Step, decideStep, digestOf, listSharedNames,
  readSections, replaceSection
} from './shared-sections.ts'

/** The file with the state that config.yml and the database last had in common. */
const BASE_FILE = 'shared-settings.json'
/** Returns the path of the backup that is written before settings of other hosts overwrite local edits. */
const formerPathOf = (dataDir: string): string =>
  join(dataDir, `config.former-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.yml`)

/** Everything that a comparison needs of a host. */
export interface ShareServices {
  config: Config
  secrets: Secrets
  log: FastifyBaseLogger
  /**
   * True before the server of this host runs. Rows that its key cannot open are then replaced, because no running host
   * has another key.
   */
  isStart?: boolean
}

/** The result of a comparison of config.yml with the settings of all hosts. */
export interface ShareResult {
  /** True if settings of other hosts were written to the file. */
  hasChanged: boolean
  /** The reason why the host has other settings than all hosts; null if it has not. */
  problem: string | null
  /** The state that the file and the database have in common after the commit. */
  base: Base
  /** Stores `base` on this host, and logs the changes. Called after the commit. */
  finish (): Promise<void>
}

/** The state that the file and the database have in common, by section. */
type Base = Readonly<Record<string, CommonSection>>

interface ShareOptions {
  /** The base of an earlier comparison in this transaction; by default the base that this host stored. */
  base?: Base | undefined
}

/** The file and the rows that are compared, from which the steps follow. */
interface Comparison {
  text: string
  content: Content
  shared: Map<string, SharedSection>
  states: Map<string, SectionState>
  /** The time of the last change of the file. */
  changedAt: number
  /** Path of the backup that is written before settings of other hosts overwrite local edits. */
  former: string
}
type NamedStep = Step & { name: string }

const BaseSchema = Type.Record(Type.String(), Type.Object({ digest: Type.String(), changed_at: Type.Number() }))

/** Returns null for a host that never compared its file. */
async function readBase ({ data_dir: dataDir }: Config): Promise<Base | null> {
  try {
    const content: unknown = JSON.parse(await readTextOf(join(dataDir, BASE_FILE)) || 'null')
    return Value.Check(BaseSchema, content) ? content : null
  } catch {
    // A host with a damaged file counts as a new host.
    return null
  }
}

/** Without the file, a later comparison finds equal values and writes it. */
async function writeBase ({ config, log }: ShareServices, base: Base): Promise<void> {
  const file = join(config.data_dir, BASE_FILE)
  const text = `${JSON.stringify(base)}\n`
  try {
    if (text !== await readTextOf(file)) await replaceText(file, text)
  } catch (err) {
    log.warn({ err }, `${file} could not be written`)
  }
}

/** Returns null if the file is missing. */
const readChangeTime = async (file: string): Promise<number | null> => (await ifPresent(stat(file)))?.mtimeMs ?? null

/** A host without the file counts as a new one: a lost file removes no settings of other hosts. */
async function readComparison (
  { config }: ShareServices, stored: Base | null, shared: Map<string, SharedSection>
): Promise<Comparison> {
  const names = listSharedNames(config)
  const changedAt = await readChangeTime(config.file.path)
  const base = changedAt === null ? null : stored
  const text = await readTextOf(config.file.path)
  const content = (await import('./document.ts')).readText(text)
  const here = readSections(content, names)
  // A later release may have sections that this one does not know.
  const known = [...names].filter((name) => here.has(name) || shared.has(name))
  const toState = (name: string) => ({ here: here.get(name), shared: shared.get(name), base: base?.[name] })
  const states = new Map(known.map((name) => [name, toState(name)]))
  return { text, content, shared, states, changedAt: changedAt ?? 0, former: formerPathOf(config.data_dir) }
}

const listSteps = ({ states, changedAt }: Comparison): NamedStep[] =>
  [...states].map(([name, state]) => ({ name, ...decideStep(state, changedAt) }))

/** Writes sections of the database to the file. @throws StartError if this host cannot work with them */
async function writeFile (
  { config }: ShareServices, { text, content, shared, former }: Comparison, steps: readonly NamedStep[]
): Promise<void> {
  const changes = steps.flatMap(({ name }) => replaceSection(name, content[name], shared.get(name)?.value))
  const { changeText } = await import('./document.ts')
  const after = changeText(text, changes)
  await checkFolders(config.file.read(after))
  // Somebody changed these settings here, and finds them again.
  if (steps.some(({ loser }) => loser === 'file')) await replaceText(former, text)
  await replaceText(config.file.path, after)
}

const nameSections = (steps: readonly NamedStep[]) => steps.map(({ name }) => name)

/** The steps of a comparison that change the file, and those that change the database. */
interface Steps { written: NamedStep[], stored: NamedStep[] }

function logSteps (
  { config, log, isStart = false }: ShareServices, { shared, former }: Comparison, { written, stored }: Steps
): void {
  const replaced = written.filter(({ loser }) => loser === 'file')
  const overruled = stored.filter(({ loser }) => loser === 'database')
  const hosts = (steps: NamedStep[]) => [...new Set(steps.flatMap(({ name }) => shared.get(name)?.changedBy ?? []))]
  if (written.length > 0) {
    const isLive = isStart || nameSections(written).every((name) => config.file.live.includes(name))
    log.info({ sections: nameSections(written), of: hosts(written) },
      `the settings of all hosts were written to config.yml${isLive ? '' : '; restart the server on this host to apply those that a start reads'}`)
  }
  if (replaced.length > 0) {
    log.warn({ sections: nameSections(replaced), of: hosts(replaced), former },
      'config.yml had other settings than the other hosts, whose later settings apply; its former content was stored beside it')
  }
  if (stored.length > 0) log.info({ sections: nameSections(stored) }, 'the settings in config.yml of this host apply to all hosts from now on')
  if (overruled.length > 0) {
    log.warn({ sections: nameSections(overruled), of: hosts(overruled) },
      'another host changed the same settings earlier than config.yml of this host; the change of the other host no longer applies')
  }
}

/** Returns the message of a failure that the operator can fix; rethrows any other. */
function explain (err: unknown): string {
  const isExpected = err instanceof UnchangeableError || err instanceof StartError || err instanceof ApiError
  if (!isExpected) throw err
  return describeProblem(err)
}

const failed = (problem: string): ShareResult => ({ hasChanged: false, problem, base: {}, finish: async () => {} })

/** Lists what has to be done. A host whose file is read-only neither follows the others nor changes their settings. */
async function plan (
  services: ShareServices, comparison: Comparison
): Promise<{ steps: NamedStep[], problem: string | null }> {
  const { path } = services.config.file
  const steps = listSteps(comparison).filter(({ step }) => step !== 'none')
  if (steps.length === 0 || (await checkFile(path)).isWritable) return { steps, problem: null }
  const different = steps.filter(({ name }) => comparison.shared.has(name))
  return {
    steps: [],
    problem: different.length === 0
      ? null
      : `${path} cannot be written, so this host keeps its own settings of ${nameSections(different).join(', ')}; make it writable, or correct it`
  }
}

async function carryOut (
  tx: Queryable, services: ShareServices, comparison: Comparison, steps: readonly NamedStep[]
): Promise<ShareResult> {
  const { config, secrets } = services
  const [written, stored] = [steps.filter(({ step }) => step === 'write'), steps.filter(({ step }) => step === 'store')]
  try {
    if (stored.length > 0) await checkFolders(config.file.read(comparison.text))
    if (written.length > 0) await writeFile(services, comparison, written)
  } catch (err) {
    return failed(`The settings of all hosts cannot be used on this host: ${explain(err)}`)
  }
  const rows = await storeShared(tx, secrets, hostname(),
    stored.map(({ name }) => ({ name, value: comparison.states.get(name)?.here })))
  const base = Object.fromEntries([...comparison.shared, ...rows].filter(([name]) => comparison.states.has(name))
    .map(([name, { value, changedAt }]) => [name, { digest: digestOf(value), changed_at: changedAt }]))
  return {
    base,
    hasChanged: written.length > 0,
    problem: null,
    async finish () {
      logSteps(services, comparison, { written, stored })
      await writeBase(services, base)
    }
  }
}

/**
 * Brings the shared sections of `config.yml` and the rows of the database to one state. The caller has locked the file,
 * and calls `finish` after the commit.
 */
export async function shareSettings (
  tx: Queryable, services: ShareServices, { base }: ShareOptions = {}
): Promise<ShareResult> {
  const { shared, refused } = await selectShared(tx, services.secrets)
  if (refused.length > 0 && services.isStart !== true) {
    return failed(`Another secret key sealed the settings of all hosts (${refused.join(', ')}); set the same SVC_AUTH_SECRET_KEY on all hosts, ` +
      'then restart them')
  }
  if (refused.length > 0) await deleteShared(tx, refused)
  try {
    const comparison = await readComparison(services, base ?? await readBase(services.config), shared)
    const { steps, problem } = await plan(services, comparison)
    return problem === null ? await carryOut(tx, services, comparison, steps) : failed(problem)
  } catch (err) {
    return failed(`${services.config.file.path} cannot be compared with the settings of all hosts: ${explain(err)}`)
  }
}
