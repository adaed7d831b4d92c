import type { Limits, Manifest, PluginKind, ProviderDefinition } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config/config.ts'
import { createMask } from '../http/mask.ts'
import { type PluginServices, createContext, createMemo, readPreferences } from './context.ts'
import { readPluginConfig } from './plugin-config.ts'
import {
  type Definition, type Exported, type ImportedPlugin, LoadError, importPlugin, limitTime, messageOf, readManifest
} from './import.ts'
import { checkPluginKeys } from './plugin-keys.ts'
import { type PluginPackage, linkSdk, listPluginPackages } from './packages.ts'
import { findCircle } from './provider-order.ts'
import { readScanOptions } from './scan-options.ts'
import type { WantedServices } from './services.ts'
import type { Loaded, PluginRecord, Registry, Trust } from './registry.ts'

export interface LoaderOptions {
  config: Config
  packages?: PluginPackage[]
  /** Whether plugins are set up to work here; else only their schemas and status are wanted. */
  works: boolean
  /** Milliseconds all plugins together may take to load, again to set up, and again to close. */
  startTimeoutMs?: number
  /** What a plugin is handed. */
  createServices (kind: PluginKind, key: string, wanted: WantedServices): PluginServices
}

/** Loading and setting up, one after the other, must fit into the limit of the application's own start. */
const START_TIMEOUT_MS = 5_000

/** A plugin on its way: what is known of it so far, and why it goes no further. */
interface Candidate {
  pack: PluginPackage
  manifest: Manifest | null
  plugin: ImportedPlugin | null
  services: PluginServices | null
  limits: Limits
  trust: Trust
  /** Paths of the folders that its configuration names, by property. */
  folders: Readonly<Record<string, string>>
  mask: (text: string) => string
  failure: LoadError | null
}

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

/** A channel's limits are about deliveries, which the host paces by itself. */
function limitsOf ({ kind, definition }: Exported, config: unknown): Limits {
  const { limits = {} } = kind === 'provider' ? definition as ProviderDefinition : {}
  return typeof limits === 'function' ? limits(config as never) : limits
}

/** A step of one plugin: what goes wrong there is its failure alone. */
async function attempt (candidate: Candidate, step: () => Promise<void> | void): Promise<void> {
  if (candidate.failure !== null) return
  try {
    await step()
  } catch (err) {
    candidate.failure = err instanceof LoadError ? err : new LoadError('failed', messageOf(err))
  }
}

/** Registers with the host, so that the plugin is closed with it, in a context of its own. */
function register (app: FastifyInstance, name: string, closers: (() => Promise<void>)[], timeoutMs: number): void {
  app.register(async (instance) => {
    instance.addHook('onClose', async () => {
      for (const close of closers) {
        await limitTime(Promise.resolve().then(close), timeoutMs, 'closing it')
          .catch((err: unknown) => { app.log.warn({ err, plugin: name }, 'plugin did not close') })
      }
    })
  })
}

export async function loadPlugins (app: FastifyInstance, options: LoaderOptions): Promise<Registry> {
  const { config, works, startTimeoutMs = START_TIMEOUT_MS } = options
  const maps = { provider: new Map(), channel: new Map(), exporter: new Map() } as const
  const definitions: Exported[] = []
  /** The first of two plugins with one key wins. */
  const taken = new Map<string, string>()
  const ordered: ProviderDefinition[] = []
  const candidates = (options.packages ?? listPluginPackages(config.data_dir)).map((pack): Candidate => ({
    pack,
    manifest: null,
    plugin: null,
    services: null,
    limits: {},
    trust: { secrets: [], origins: [] },
    folders: {},
    mask: (text) => text,
    failure: null
  }))

  async function importOne (candidate: Candidate): Promise<void> {
    candidate.manifest = readManifest(candidate.pack)
    candidate.plugin = await importPlugin(candidate.pack, candidate.manifest, startTimeoutMs)
  }

  function configure (candidate: Candidate): void {
    const { pack, plugin } = candidate
    if (plugin === null) return
    const { kind, definition } = plugin
    const id = `${kind} '${definition.key}'`
    const twin = taken.get(id)
    if (twin !== undefined) throw new LoadError('failed', `the ${id} is already there, from ${twin}`)
    const settings = readPluginConfig(kind, definition, config)
    if (settings.status !== 'failed') {
      taken.set(id, pack.name)
      definitions.push({ kind, definition })
    }
    if (settings.status !== 'ready') throw new LoadError(settings.status, settings.reason)
    const { value, secrets, origins, folders } = settings
    const missing = definition.missing?.(value)
    if (missing !== undefined) throw new LoadError('disabled', `set ${missing}`)
    const mask = createMask(secrets)
    candidate.mask = (text) => mask.text(text)
    candidate.trust = { secrets, origins }
    candidate.folders = folders
    candidate.limits = limitsOf(plugin, value)
    const index = 'index' in definition ? definition.index : undefined
    const services: PluginServices = options.createServices(kind, definition.key, {
      config: value,
      secrets,
      origins,
      pace: candidate.limits,
      hosts: candidate.manifest?.hosts,
      folders,
      buildIndex: index === undefined ? undefined : (scope) => index.build(createContext(services, scope) as never)
    })
    candidate.services = services
  }

  /** Only among those that can be asked: the one that closes a circle is left out, in load order. */
  function putInOrder ({ plugin }: Candidate): void {
    if (plugin?.kind !== 'provider') return
    const definition = plugin.definition as ProviderDefinition
    const circle = findCircle(ordered, definition)
    if (circle !== null) {
      throw new LoadError('failed', `it waits for itself: ${circle.join(' → ')}, each asked before the next; ` +
        "change its 'links', 'after' or 'when'")
    }
    ordered.push(definition)
  }

  async function setUp ({ pack, plugin, services }: Candidate): Promise<void> {
    if (plugin === null || services === null) return
    const closers: (() => Promise<void>)[] = []
    const signal = AbortSignal.timeout(startTimeoutMs)
    const context = createContext(services, { signal, memo: createMemo(), preferences: readPreferences(config) })
    const host = { addHook: (_name: 'onClose', hook: () => Promise<void>) => closers.push(hook) }
    // Registered before it is set up: one that takes too long may still end, and must be closed then.
    register(app, pack.name, closers, startTimeoutMs)
    const started = Promise.resolve().then(() => plugin(host, { context, accept: () => {} }))
    await limitTime(started, startTimeoutMs, 'its setup').catch((err: unknown) => {
      throw err instanceof LoadError ? err : new LoadError('failed', `its setup throws: ${messageOf(err)}`)
    })
  }

  function add ({ plugin, services, trust, folders, limits }: Candidate): void {
    if (plugin === null || services === null) return
    const { kind, definition } = plugin
    const scanOptions = 'scanOptions' in definition ? definition.scanOptions : undefined
    const loaded: Loaded<Definition> = {
      key: definition.key,
      definition,
      trust,
      limits,
      folders,
      http: services.http,
      learnt: services.learnt,
      context: (scope) => createContext(services, { ...scope, options: readScanOptions(scanOptions, scope.options) }),
      rebuildIndex: 'index' in definition ? services.index.rebuild : null
    }
    maps[kind].set(definition.key, loaded)
  }

  // All at once, so that several plugins that hang cost no more time than one.
  await Promise.all(candidates.map((candidate) => attempt(candidate, () => importOne(candidate))))
  const sections = candidates.flatMap(({ manifest, plugin }) => manifest === null || manifest.kind === 'exporter'
    ? []
    : [{ key: manifest.key, properties: plugin === null ? undefined : plugin.definition.config?.properties ?? {} }])
  for (const key of checkPluginKeys(config, sections)) {
    app.log.warn({ key }, 'no plugin has this section of plugins in config.yml; it is ignored')
  }
  for (const candidate of candidates) await attempt(candidate, () => { configure(candidate) })
  for (const candidate of candidates) await attempt(candidate, () => { putInOrder(candidate) })
  if (works) await Promise.all(candidates.map((candidate) => attempt(candidate, () => setUp(candidate))))
  for (const candidate of candidates) await attempt(candidate, () => { add(candidate) })

  const records = candidates.map(toRecord)
  for (const { package: name, status, reason } of records) {
    if (status === 'failed' || status === 'unsupported') app.log.warn({ plugin: name, reason }, 'plugin left out')
  }
  return { providers: maps.provider, channels: maps.channel, exporters: maps.exporter, records, definitions }
}

export default fp<LoaderOptions>(async (app, options) => {
  try {
    linkSdk(options.config.data_dir)
  } catch (err) {
    app.log.warn({ err }, 'the SDK could not be linked into the plugins folder; community plugins may fail to load')
  }
  app.decorate('registry', await loadPlugins(app, options))
}, { name: 'loader', fastify: '5.x' })
