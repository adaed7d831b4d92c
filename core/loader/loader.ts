import type { Limits, Manifest, PluginKind, ProviderContext, ProviderDefinition } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { createMask } from '../http/mask.ts'
import { type PluginServices, createContext, readPreferences } from './context.ts'
import { createMemo } from './memo.ts'
import { followSettings, listVariables, readPluginConfig } from './plugin-config.ts'
import { createVariableOwners } from './plugin-variables.ts'
import {
  type PluginExport, importApart, importPlugin, messageOf, readDescriptor, readManifest
} from './import.ts'
import { LoadError, limitLoading } from './load-error.ts'
import { type MediaRules, createMediaCheck } from './media-hosts.ts'
import { checkPluginKeys } from './plugin-keys.ts'
import { type PluginPackage, linkSdk, listPluginPackages } from './packages.ts'
import { describePlugin } from './process/descriptor.ts'
import { type PluginProcess, type PluginProcessOptions, createPluginProcess } from './process/plugin-process.ts'
import { checkProviderFields } from './provider-fields.ts'
import { findCycle } from './provider-order.ts'
import { checkLimits } from './check-definition.ts'
import { readScanOptions } from './scan-options.ts'
import type { ServiceOptions } from './services.ts'
import { type Definition, type Description, type Loaded, type PluginRecord, type Registry, type OperatorTrust, createRegistry } from './registry.ts'

export interface LoaderOptions {
  config: Config
  packages?: PluginPackage[]
  /** True if plugins are set up to work here; else only their schemas and status are needed. */
  runsPlugins: boolean
  /** The description of each package, in their order. With them, no plugin's code runs. */
  descriptions?: readonly Description[] | undefined
  /** Milliseconds that all plugins together may take to load, again to set up, and again to close. */
  startTimeoutMs?: number
  /** Timeouts for plugins in their own processes. */
  timeouts?: Pick<PluginProcessOptions, 'pingMs' | 'restartMs'>
  /** The server's own fields of ROMs and users, which no provider may replace. */
  serverFields?: ReadonlySet<string>
  /** Creates the services of a plugin. */
  createServices (kind: PluginKind, key: string, options: ServiceOptions): PluginServices
}

/** Loading and setting up, one after the other, must fit into the limit of the application's own start. */
const START_TIMEOUT_MS = 5_000

/** A plugin that is being loaded: its parts so far, and the reason why it failed. */
interface Candidate {
  pack: PluginPackage
  manifest: Manifest | null
  plugin: PluginExport | null
  /** The process that runs the plugin; null if it runs in this one. */
  process: PluginProcess | null
  services: PluginServices | null
  limits: Limits
  trust: OperatorTrust
  /** Paths of the folders that its configuration names, by property. */
  folders: Readonly<Record<string, string>>
  mask: (text: string) => string
  failure: LoadError | null
}

const createCandidate = (pack: PluginPackage): Candidate => ({
  pack,
  manifest: null,
  plugin: null,
  process: null,
  services: null,
  limits: {},
  trust: { secrets: [], origins: [] },
  folders: {},
  mask: (text) => text,
  failure: null
})

const hasEntry = (pack: PluginPackage): pack is PluginPackage & { entry: string } => pack.entry !== null

function toRecord ({ pack, manifest, plugin, failure, mask }: Candidate): PluginRecord {
  const key = manifest?.key ?? pack.name
  return {
    kind: manifest?.kind ?? null,
    key,
    name: plugin?.definition.name ?? key,
    package: pack.name,
    version: pack.version,
    status: failure?.status ?? 'active',
    reason: failure === null ? null : mask(failure.message),
    origin: pack.origin
  }
}

function toDescription ({ plugin, failure }: Candidate): Description {
  return {
    descriptor: plugin === null ? null : describePlugin(plugin.kind, plugin.definition),
    failure: failure === null ? null : { status: failure.status, reason: failure.message }
  }
}

/** Returns a provider's limits. The host itself limits the deliveries of channels. */
async function limitsOf ({ kind, definition }: PluginExport, config: unknown): Promise<Limits> {
  const { limits = {} } = kind === 'provider' ? definition as ProviderDefinition : {}
  if (typeof limits !== 'function') return limits
  // For a plugin in its own process the result is a promise.
  return checkLimits(await Promise.resolve(limits(config as never)))
}

/** Runs one step of one plugin; an error fails only this plugin. */
async function attempt (candidate: Candidate, step: () => Promise<void> | void): Promise<void> {
  if (candidate.failure !== null) return
  try {
    await step()
  } catch (err) {
    candidate.failure = err instanceof LoadError ? err : new LoadError('failed', messageOf(err))
    // A failed plugin needs no process.
    candidate.process?.end()
  }
}

/** Registers a plugin with the host in its own context, so that it is closed with the host. */
function register (app: FastifyInstance, name: string, closers: (() => Promise<void>)[], timeoutMs: number): void {
  app.register(async (instance) => {
    instance.addHook('onClose', async () => {
      for (const close of closers) {
        await limitLoading('closing it', timeoutMs, async () => { await close() })
          .catch((err: unknown) => { app.log.warn({ err, plugin: name }, 'plugin did not close') })
      }
    })
  })
}

const refuseCall = () => () => { throw new Error('Plugins are called in the scan worker only; queue a job for it') }

export async function loadPlugins (app: FastifyInstance, options: LoaderOptions): Promise<Registry> {
  const {
    config, runsPlugins: works, descriptions, startTimeoutMs = START_TIMEOUT_MS, serverFields = new Set()
  } = options
  const { registry, define, describe, add, setDown } = createRegistry()
  /** Keys in use; the first of two plugins with one key wins. */
  const usedKeys = new Map<string, string>()
  const variableOwners = createVariableOwners()
  const ordered: ProviderDefinition[] = []
  const packages = options.packages ?? listPluginPackages(config.data_dir)
  const candidates = packages.map(createCandidate)
  const records = new Map<Candidate, PluginRecord>()

  function startProcess (candidate: Candidate, pack: PluginPackage & { entry: string }): PluginProcess {
    const started = createPluginProcess({
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
    app.addHook('onClose', async () => { started.end() })
    return started
  }

  async function importOne (candidate: Candidate, description: Description | undefined): Promise<void> {
    const { pack } = candidate
    const manifest = readManifest(pack)
    candidate.manifest = manifest
    if (description !== undefined) {
      const { failure, descriptor } = description
      if (failure !== null) throw new LoadError(failure.status, failure.reason)
      if (descriptor !== null) candidate.plugin = readDescriptor(descriptor, manifest, refuseCall)
      return
    }
    if (!hasEntry(pack)) throw new LoadError('failed', 'the file its package.json exports does not exist; build it first')
    candidate.plugin = pack.origin === 'community'
      ? await importApart(pack, manifest, startProcess(candidate, pack))
      : await importPlugin(pack, manifest, startTimeoutMs)
  }

  async function configure (candidate: Candidate): Promise<void> {
    const { pack, plugin } = candidate
    if (plugin === null) return
    const { kind, definition } = plugin
    if (kind === 'provider') checkProviderFields(definition, serverFields)
    const id = `${kind} '${definition.key}'`
    const twin = usedKeys.get(id)
    if (twin !== undefined) throw new LoadError('failed', `the ${id} is already installed, by ${twin}`)
    const owner = { key: definition.key, package: pack.name, origin: pack.origin }
    const variables = listVariables(definition)
    const foreign = variableOwners.findForeign(owner, variables)
    if (foreign !== undefined) {
      throw new LoadError('failed', `it names the variable ${foreign.variable}, which belongs to ${foreign.owner.package}; ` +
        'its author has to choose another')
    }
    const settings = readPluginConfig(kind, definition, config)
    if (settings.status !== 'failed') {
      usedKeys.set(id, pack.name)
      variableOwners.add(owner, variables)
      define({ kind, definition })
    }
    if (settings.status !== 'ready') throw new LoadError(settings.status, settings.reason)
    const { value, secrets, origins, folders } = settings
    // For a plugin in its own process the result is a promise. Without the plugin's code it is unknown.
    const missing = descriptions === undefined ? await Promise.resolve(definition.missing?.(value)) : undefined
    if (missing !== undefined) throw new LoadError('disabled', `set ${missing}`)
    const mask = createMask(secrets)
    candidate.mask = (text) => mask.text(text)
    candidate.trust = { secrets, origins }
    candidate.folders = folders
    // Limits apply to requests, which are sent only by processes that run plugins.
    if (works) candidate.limits = await limitsOf(plugin, value)
    const index = 'index' in definition ? definition.index : undefined
    const services: PluginServices = options.createServices(kind, definition.key, {
      config: value,
      secrets,
      origins,
      rateLimit: candidate.limits,
      hosts: candidate.manifest?.hosts,
      folders,
      buildIndex: index === undefined ? undefined : (scope) => index.build(createContext(services, scope) as never)
    })
    candidate.services = services
    if (kind === 'exporter') followSettings(services, definition, config)
  }

  /** Orders the available providers. The one that closes a cycle is skipped, in load order. */
  function addToOrder ({ plugin }: Candidate): void {
    if (plugin?.kind !== 'provider') return
    const definition = plugin.definition as ProviderDefinition
    const circle = findCycle(ordered, definition)
    if (circle !== null) {
      throw new LoadError('failed', `its order is a cycle: ${circle.join(' → ')}, each called before the next; ` +
        "change its 'order'")
    }
    ordered.push(definition)
  }

  async function setUp ({ pack, plugin, process, services }: Candidate): Promise<void> {
    if (plugin === null || services === null) return
    const { definition } = plugin
    const closers: (() => Promise<void>)[] = []
    function open (): ProviderContext {
      const ending = new AbortController()
      const timeoutError = new LoadError('failed', `its setup does not end within ${startTimeoutMs / 1_000} seconds`)
      setTimeout(() => { ending.abort(timeoutError) }, startTimeoutMs).unref()
      return createContext(services as PluginServices, {
        signal: ending.signal, memo: createMemo(), preferences: readPreferences(config)
      })
    }
    // Registered before the set-up, because a set-up that exceeds its time may still finish, and the plugin must then
    // be closed.
    register(app, pack.name, closers, startTimeoutMs)
    async function start (): Promise<void> {
      if (process !== null) {
        closers.push(process.close)
        await process.setUp(open)
        return
      }
      await definition.setup?.(open() as never)
      closers.push(async () => { await definition.close?.() })
    }
    await limitLoading('its setup', startTimeoutMs, start).catch((err: unknown) => {
      throw err instanceof LoadError ? err : new LoadError('failed', `its setup throws: ${messageOf(err)}`)
    })
  }

  function toLoaded (candidate: Candidate): Loaded<Definition> | null {
    const { pack, manifest, plugin, services, trust, limits, folders, failure } = candidate
    if (plugin === null || services === null || failure !== null) return null
    const { definition } = plugin
    const mediaRules: MediaRules = pack.origin === 'community'
      ? { hosts: manifest?.hosts, trustedOrigins: trust.origins }
      : {}
    const scanOptions = 'scanOptions' in definition ? definition.scanOptions : undefined
    return {
      key: definition.key,
      definition,
      trust,
      limits,
      folders,
      http: services.http,
      mediaRules,
      allowsMedia: createMediaCheck(pack.name, mediaRules, app.log),
      reportedLimits: services.reportedLimits,
      context: (scope) => createContext(services, { ...scope, options: readScanOptions(scanOptions, scope.options) }),
      rebuildIndex: 'index' in definition ? services.index.rebuild : null
    }
  }

  // All at once, because then several hanging plugins cost no more time than one.
  await Promise.all(candidates.map((candidate, index) =>
    attempt(candidate, () => importOne(candidate, descriptions?.[index]))))
  for (const candidate of candidates) describe(toDescription(candidate))
  const sections = candidates.flatMap(({ manifest, plugin }) => manifest === null || manifest.kind === 'exporter'
    ? []
    : [{ key: manifest.key, properties: plugin === null ? undefined : plugin.definition.config?.properties ?? {} }])
  for (const key of checkPluginKeys(config, sections)) {
    app.log.warn({ key }, 'no plugin has this section of plugins in config.yml; it is ignored')
  }
  for (const candidate of candidates) await attempt(candidate, () => configure(candidate))
  for (const candidate of candidates) await attempt(candidate, () => { addToOrder(candidate) })
  if (works) await Promise.all(candidates.map((candidate) => attempt(candidate, () => setUp(candidate))))
  else for (const { process } of candidates) process?.end()
  for (const candidate of candidates) {
    const record = toRecord(candidate)
    records.set(candidate, record)
    add(record, toLoaded(candidate))
    const { package: name, status, reason } = record
    if (status === 'failed' || status === 'unsupported') app.log.warn({ plugin: name, reason }, 'plugin skipped')
  }
  return registry
}

/** Links this server's SDK into the folder of community plugins. */
export function linkSdkFor (app: FastifyInstance, dataDir: string): void {
  try {
    linkSdk(dataDir)
  } catch (err) {
    app.log.warn({ err }, 'the SDK could not be linked into the plugins folder; community plugins may fail to load')
  }
}
