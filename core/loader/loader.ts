import type { Manifest, PluginKind, ProviderDefinition } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { type Candidate, attempt, createCandidate, toDescription, toLoaded, toRecord } from './steps/candidate.ts'
import { type ConfigureOptions, configurePlugin, createUsedNames } from './steps/configure-plugin.ts'
import { importApart, importPlugin, readDescriptor, readManifest } from './steps/import.ts'
import { LoadError } from './load-error.ts'
import { type PluginPackage, linkSdk, listPluginPackages } from './packages/packages.ts'
import { describeWrongKeys } from './checks/plugin-keys.ts'
import type { PluginProcess, PluginProcessOptions } from './process/plugin-process.ts'
import { type Description, type PluginRecord, type Registry, createRegistry } from './registry.ts'
import { addToOrder } from './steps/add-to-order.ts'
import { createReload } from './reload.ts'
import { setUpPlugin } from './steps/set-up-plugin.ts'

export interface LoaderOptions extends ConfigureOptions {
  packages?: PluginPackage[]
  /** Packages that were updated or removed after the start of the server; they fail. */
  changed?: ReadonlySet<PluginPackage>
  /** Milliseconds that all plugins together may take to load, again to set up, and again to close. */
  startTimeoutMs?: number
  /** Timeouts for plugins in their own processes. */
  timeouts?: Pick<PluginProcessOptions, 'pingMs' | 'restartMs'>
}

/** Loading and setting up, one after the other, must fit into the limit of the application's own start. */
const START_TIMEOUT_MS = 5_000

const CHANGED = 'it was updated or removed after the start of the server; restart the server'

const hasEntry = (pack: PluginPackage): pack is PluginPackage & { entry: string } => pack.entry !== null

const refuseCall = () => () => { throw new Error('Plugins are called in the scan worker only; queue a job for it') }

/** Takes a plugin from its description, which was stored by a process that ran the plugin's code. */
function readDescription (candidate: Candidate, manifest: Manifest, { failure, descriptor }: Description): void {
  if (failure !== null) throw new LoadError(failure.status, failure.reason)
  if (descriptor !== null) candidate.plugin = readDescriptor(descriptor, manifest, refuseCall)
}

/** The plugins of this process. */
export interface LoadedPlugins extends Registry {
  /** Loads a plugin again with its current settings. Calls that already run end in the former one. */
  reload (kind: PluginKind, key: string): Promise<void>
  /** Problems of the sections of plugins in `config.yml`, except values that the plugins refuse. */
  wrongKeys: readonly string[]
}

/** Logs and returns what is wrong in the sections of plugins in `config.yml`, except values that the plugins refuse. */
function warnOfWrongKeys ({ log }: FastifyInstance, config: Config, candidates: readonly Candidate[]): string[] {
  const problems = describeWrongKeys(config, candidates.flatMap(({ manifest, plugin }) => manifest === null
    ? []
    : [{ ...manifest, properties: plugin === null ? undefined : plugin.definition.config?.properties ?? {} }]))
  for (const problem of problems) log.warn(problem)
  return problems
}

/** Loads all packages, one step after the other. An error fails only its own plugin. */
export async function loadPlugins (app: FastifyInstance, options: LoaderOptions): Promise<LoadedPlugins> {
  const { config, descriptions, changed = new Set(), startTimeoutMs = START_TIMEOUT_MS } = options
  const { registry, define, describe, add, replace, setDown } = createRegistry()
  const names = createUsedNames()
  const ordered: ProviderDefinition[] = []
  const candidates = (options.packages ?? listPluginPackages(config.data_dir)).map(createCandidate)
  const records = new Map<Candidate, PluginRecord>()

  async function startProcess (candidate: Candidate, pack: PluginPackage & { entry: string }): Promise<PluginProcess> {
    const started = new (await import('./process/plugin-process.ts')).PluginProcess({
      pack,
      log: app.log,
      importMs: startTimeoutMs,
      ...options.timeouts,
      onChange (reason) {
        const record = records.get(candidate)
        if (record !== undefined) setDown(record, reason === null ? null : candidate.mask(reason))
      }
    })
    candidate.process = started
    return started
  }

  async function importCode (candidate: Candidate, description: Description | undefined): Promise<void> {
    const { pack } = candidate
    const manifest = candidate.manifest = readManifest(pack)
    if (changed.has(pack)) throw new LoadError('failed', CHANGED)
    if (description !== undefined) readDescription(candidate, manifest, description)
    else if (!hasEntry(pack)) throw new LoadError('failed', 'the file its package.json exports does not exist; build it first')
    else if (pack.origin === 'community') candidate.plugin = await importApart(pack, manifest, await startProcess(candidate, pack))
    else candidate.plugin = await importPlugin(pack, manifest, startTimeoutMs)
  }

  const setUp = (candidate: Candidate) => setUpPlugin(app, candidate, { config, timeoutMs: startTimeoutMs })

  // All at once, because then several hanging plugins cost no more time than one.
  await Promise.all(candidates.map((candidate, index) =>
    attempt(candidate, () => importCode(candidate, descriptions?.[index]))))
  for (const [index, candidate] of candidates.entries()) describe(descriptions?.[index] ?? toDescription(candidate))
  const wrongKeys = warnOfWrongKeys(app, config, candidates)
  for (const candidate of candidates) await attempt(candidate, () => configurePlugin(candidate, names, options, define))
  for (const candidate of candidates) await attempt(candidate, () => { addToOrder(ordered, candidate) })
  if (options.runsPlugins) await Promise.all(candidates.map((candidate) => attempt(candidate, () => setUp(candidate))))
  else for (const { process } of candidates) process?.end()
  for (const candidate of candidates) {
    const record = toRecord(candidate)
    records.set(candidate, record)
    add(record, toLoaded(candidate, app.log))
    const { package: name, status, reason } = record
    if (status === 'failed' || status === 'unsupported') app.log.warn({ plugin: name, reason }, 'plugin skipped')
  }

  const { reload, close } = createReload({
    app, options, candidates, records, ordered, replace, setUp,
    importCode: (candidate, index) => importCode(candidate, descriptions?.[index])
  })
  app.addHook('onClose', close)
  return Object.assign(registry, { reload, wrongKeys })
}

/** Links this server's SDK into the folder of community plugins. */
export function linkSdkFor (app: FastifyInstance, dataDir: string): void {
  try {
    linkSdk(dataDir)
  } catch (err) {
    app.log.warn({ err }, 'the SDK could not be linked into the plugins folder; community plugins may fail to load')
  }
}
