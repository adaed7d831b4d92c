import { pathToFileURL } from 'node:url'
import { type Manifest, ManifestSchema, SDK_VERSION, type ChannelDefinition, type Context, type ExporterDefinition,
  type HostOptions, type PluginKind, type ProviderDefinition } from '@svc/plugin-sdk'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { satisfies, validRange } from 'semver'
import type { Config } from './config.ts'
import { type PluginServices, createContext, createMemo, readPreferences } from './plugin-context.ts'
import { readPluginConfig } from './plugin-config.ts'
import { type PluginPackage, linkSdk, listPluginPackages } from './plugin-packages.ts'
import type { Pace } from './http-pace.ts'
import type { WantedServices } from './plugin-services.ts'
import type { Loaded, PluginRecord, Registry } from './registry.ts'

type Definition = ProviderDefinition | ChannelDefinition | ExporterDefinition
interface Exported { kind: PluginKind, definition: Definition }
type Registrable = Exported & ((instance: never, options: HostOptions) => Promise<void>)

export interface LoaderOptions {
  config: Config
  packages?: PluginPackage[]
  /** Whether plugins are set up to work here; else only their schemas and status are wanted. */
  works: boolean
  /** What a plugin is handed. */
  createServices (kind: PluginKind, key: string, wanted: WantedServices): PluginServices
}

class LoadError extends Error {
  readonly status: PluginRecord['status']

  constructor (status: PluginRecord['status'], message: string) {
    super(message)
    this.status = status
  }
}

function readManifest (pack: PluginPackage): Manifest {
  if (pack.problem !== null) throw new LoadError('failed', pack.problem)
  if (pack.manifest === undefined) throw new LoadError('failed', 'its package.json has no "svc" key, so it is no plugin')
  const [problem] = [...Value.Errors(ManifestSchema, pack.manifest)]
  if (problem !== undefined) {
    throw new LoadError('failed', `"svc${problem.path.replaceAll('/', '.')}" in its package.json is ` +
      `${JSON.stringify(problem.value)}: ${problem.message.toLowerCase()}`)
  }
  const manifest = pack.manifest as Manifest
  if (validRange(manifest.sdk) === null || !satisfies(SDK_VERSION, manifest.sdk)) {
    throw new LoadError('unsupported', `it needs SDK ${manifest.sdk}, this server has ${SDK_VERSION}; ` +
      'install a release of the plugin made for it')
  }
  return manifest
}

function describeImportError (err: unknown, pack: PluginPackage): string {
  const { code, message } = err as NodeJS.ErrnoException
  const missing = /Cannot find (?:package|module) '([^']+)'/.exec(message)?.[1]
  if (code === 'ERR_MODULE_NOT_FOUND' && missing !== undefined) {
    return `it is installed, but its own dependency '${missing}' is missing; reinstall ${pack.name}`
  }
  return `it throws while loading: ${message}`
}

async function importPlugin (pack: PluginPackage, manifest: Manifest): Promise<Registrable> {
  if (pack.entry === null) throw new LoadError('failed', 'the file its package.json exports does not exist; build it first')
  let module: { default?: unknown }
  try {
    module = await import(pathToFileURL(pack.entry).href) as { default?: unknown }
  } catch (err) {
    throw new LoadError('failed', describeImportError(err, pack))
  }
  const exported = module.default
  if (typeof exported !== 'function' || !('definition' in exported) || !('kind' in exported)) {
    throw new LoadError('failed', 'its default export is not what defineProvider, defineChannel or defineExporter returns')
  }
  const plugin = exported as unknown as Registrable
  if (plugin.kind !== manifest.kind) {
    throw new LoadError('failed', `its package.json says ${manifest.kind}, its code is a ${plugin.kind}`)
  }
  if (plugin.definition.key !== manifest.key) {
    throw new LoadError('failed', `its package.json says key '${manifest.key}', its code '${plugin.definition.key}'`)
  }
  return plugin
}

/** How long a plugin's setup may take before it counts as hanging. */
const SETUP_TIMEOUT_MS = 5_000

function withinTime (work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => { reject(new LoadError('failed', `its setup did not end within ${ms / 1_000} s`)) }, ms)
  })
  return Promise.race([work, late]).finally(() => { clearTimeout(timer) })
}

/** Registers with the host in a context of its own; a throw in `setup`, or one that hangs, is its failure alone. */
async function register (app: FastifyInstance, plugin: Registrable, context: Context): Promise<void> {
  let failure: LoadError | null = null
  await app.register(async (instance) => {
    try {
      await withinTime(plugin(instance as never, { context, accept: () => {} }), SETUP_TIMEOUT_MS)
    } catch (err) {
      failure = err instanceof LoadError ? err : new LoadError('failed', `its setup throws: ${(err as Error).message}`)
    }
  })
  if (failure !== null) throw failure as LoadError
}

/** A channel's limits are about deliveries, which the host paces by itself. */
function paceOf ({ kind, definition }: Exported): Pace {
  const limits = kind === 'provider' ? (definition as ProviderDefinition).limits : undefined
  return { concurrency: limits?.concurrency, perSecond: limits?.perSecond }
}

function toRecord (pack: PluginPackage, manifest: Manifest | null, plugin: Registrable | null): PluginRecord {
  const key = manifest?.key ?? pack.name
  return {
    kind: manifest?.kind ?? null, key, name: plugin?.definition.name ?? key, package: pack.name, version: pack.version,
    status: 'active', reason: null, origin: pack.origin
  }
}

export async function loadPlugins (app: FastifyInstance, options: LoaderOptions): Promise<Registry> {
  const { config, works } = options
  const maps = { provider: new Map(), channel: new Map(), exporter: new Map() } as const
  const records: PluginRecord[] = []
  const definitions: Exported[] = []

  async function load (pack: PluginPackage): Promise<void> {
    let manifest: Manifest | null = null
    let plugin: Registrable | null = null
    try {
      manifest = readManifest(pack)
      const { kind, key } = manifest
      const twin = records.find((record) => record.kind === kind && record.key === key && record.status !== 'failed')
      if (twin !== undefined) throw new LoadError('failed', `the ${kind} '${key}' is already there, from ${twin.package}`)
      plugin = await importPlugin(pack, manifest)
      const settings = readPluginConfig(kind, key, plugin.definition.config, config)
      if (settings.status !== 'failed') definitions.push({ kind, definition: plugin.definition })
      if (settings.status !== 'ready') throw new LoadError(settings.status, settings.reason)
      const { value, secrets, origins } = settings
      const services = options.createServices(kind, key, { config: value, secrets, origins, pace: paceOf(plugin) })
      const startScope = { signal: AbortSignal.timeout(10_000), memo: createMemo(), preferences: readPreferences(config) }
      if (works) await register(app, plugin, createContext(services, startScope))
      const loaded: Loaded<Definition> = {
        key, definition: plugin.definition, context: (scope) => createContext(services, scope)
      }
      maps[kind].set(key, loaded)
      records.push(toRecord(pack, manifest, plugin))
    } catch (err) {
      const status = err instanceof LoadError ? err.status : 'failed'
      const reason = err instanceof Error ? err.message : String(err)
      records.push({ ...toRecord(pack, manifest, plugin), status, reason })
      if (status !== 'disabled') app.log.warn({ plugin: pack.name, reason }, 'plugin left out')
    }
  }

  // One after the other: the order decides which of two plugins with one key wins.
  for (const pack of options.packages ?? listPluginPackages(config.data_dir)) await load(pack)
  return { providers: maps.provider, channels: maps.channel, exporters: maps.exporter, records, definitions } as Registry
}

export default fp<LoaderOptions>(async (app, options) => {
  try {
    linkSdk(options.config.data_dir)
  } catch (err) {
    app.log.warn({ err }, 'the SDK could not be linked into the plugins folder; community plugins may fail to load')
  }
  app.decorate('registry', await loadPlugins(app, options))
}, { name: 'loader', fastify: '5.x' })
