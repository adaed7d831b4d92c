import type { Limits, PluginKind, ProviderDefinition } from '@svc/plugin-sdk'
import type { Config } from '../../config/config.ts'
import { createMask } from '../../http/mask.ts'
import type { Candidate } from './candidate.ts'
import { checkLimits } from '../checks/check-definition.ts'
import { type PluginServices, createContext } from '../context.ts'
import type { PluginExport } from './import.ts'
import { LoadError } from '../load-error.ts'
import type { PluginPackage } from '../packages/packages.ts'
import { followSettings, listVariables, readPluginConfig } from '../settings/plugin-config.ts'
import { createVariableOwners } from '../settings/plugin-variables.ts'
import { checkProviderFields } from '../checks/provider-fields.ts'
import type { Description } from '../registry.ts'
import type { ServiceOptions } from '../services.ts'
import type { StoredSettings } from '../settings/stored-settings.ts'

export interface ConfigureOptions {
  config: Config
  /** True if plugins are set up to work here; else only their schemas and status are needed. */
  runsPlugins: boolean
  /** The description of each package, in their order. With them, no plugin's code runs. */
  descriptions?: readonly Description[] | undefined
  /** The settings that administrators stored. */
  stored?: Pick<StoredSettings, 'of'>
  /** The server's own fields of ROMs and users, which no provider may replace. */
  serverFields?: ReadonlySet<string>
  /** Creates the services of a plugin. */
  createServices (kind: PluginKind, key: string, options: ServiceOptions): PluginServices
}

export type UsedNames = ReturnType<typeof createUsedNames>

/** Creates the list of keys and variables that plugins use. The first of two plugins with one key or variable wins. */
export function createUsedNames () {
  /** The package of each key. */
  const keys = new Map<string, string>()
  const variables = createVariableOwners()
  const ownerOf = ({ definition }: PluginExport, pack: PluginPackage) =>
    ({ key: definition.key, package: pack.name, origin: pack.origin })
  return {
    /** @throws LoadError if another plugin has the key or a variable of this one */
    check (plugin: PluginExport, pack: PluginPackage): void {
      const id = `${plugin.kind} '${plugin.definition.key}'`
      const twin = keys.get(id)
      if (twin !== undefined) throw new LoadError('failed', `the ${id} is already installed, by ${twin}`)
      const foreign = variables.findForeign(ownerOf(plugin, pack), listVariables(plugin.definition))
      if (foreign === undefined) return
      throw new LoadError('failed', `it names the variable ${foreign.variable}, which belongs to ${foreign.owner.package}; ` +
        'its author has to choose another')
    },
    add (plugin: PluginExport, pack: PluginPackage): void {
      keys.set(`${plugin.kind} '${plugin.definition.key}'`, pack.name)
      variables.add(ownerOf(plugin, pack), listVariables(plugin.definition))
    }
  }
}

/** Returns a provider's limits. The host itself limits the deliveries of channels. */
async function limitsOf ({ kind, definition }: PluginExport, config: unknown): Promise<Limits> {
  const { limits = {} } = kind === 'provider' ? definition as ProviderDefinition : {}
  if (typeof limits !== 'function') return limits
  // For a plugin in its own process the result is a promise.
  return checkLimits(await Promise.resolve(limits(config as never)))
}

/** Creates the services of a plugin, with its index if it declares one. */
function createServices (
  candidate: Candidate, { kind, definition }: PluginExport, value: unknown, options: ConfigureOptions
): PluginServices {
  const { trust: { secrets, origins }, limits, manifest, folders } = candidate
  const index = 'index' in definition ? definition.index : undefined
  const services: PluginServices = options.createServices(kind, definition.key, {
    config: value,
    secrets,
    origins,
    rateLimit: limits,
    hosts: manifest?.hosts,
    folders,
    readIndexEntries: index === undefined ? undefined : (scope) => index.build(createContext(services, scope) as never)
  })
  return services
}

/**
 * Checks the names and the configuration of a plugin, and creates its services.
 *
 * @param define called once the names and the schema of the plugin are known to be valid
 * @throws LoadError if the plugin cannot work with its configuration
 */
export async function configurePlugin (
  candidate: Candidate, names: UsedNames, options: ConfigureOptions, define: (plugin: PluginExport) => void
): Promise<void> {
  const { pack, plugin } = candidate
  if (plugin === null) return
  const { kind, definition } = plugin
  if (kind === 'provider') checkProviderFields(definition, options.serverFields ?? new Set())
  names.check(plugin, pack)
  const configured = { ...definition, stored: options.stored?.of(kind, definition.key) ?? {} }
  const settings = readPluginConfig(kind, configured, options.config)
  if (settings.status !== 'failed') {
    names.add(plugin, pack)
    candidate.isDefined = true
    define(plugin)
  }
  if (settings.status !== 'ready') throw new LoadError(settings.status, settings.reason)
  const { value, secrets, origins, folders } = settings
  // For a plugin in its own process the result is a promise. Without the plugin's code it is unknown.
  const missing = options.descriptions === undefined ? await Promise.resolve(definition.missing?.(value)) : undefined
  if (missing !== undefined) throw new LoadError('disabled', `set ${missing}`)
  const mask = createMask(secrets)
  candidate.mask = (text) => mask.text(text)
  candidate.trust = { secrets, origins }
  candidate.folders = folders
  // Limits apply to requests, which are sent only by processes that run plugins.
  if (options.runsPlugins) candidate.limits = await limitsOf(plugin, value)
  const services = createServices(candidate, plugin, value, options)
  candidate.services = services
  candidate.closers.push(() => services.http.close())
  if (kind === 'exporter') followSettings(services, configured, options.config)
}
