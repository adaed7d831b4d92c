import type { ExporterDefinition, Limits, PluginKind, ProviderDefinition } from '@svc/plugin-sdk'
import type { Config } from '../../config/config.ts'
import { createMask } from '../../http/mask.ts'
import type { Candidate } from './candidate.ts'
import { checkLimits } from '../checks/check-definition.ts'
import { type PluginServices, createContext } from '../context.ts'
import type { PluginExport } from './import.ts'
import { LoadError } from '../load-error.ts'
import type { PluginPackage } from '../packages/packages.ts'
import { followSection, listVariables, readPluginConfig, refuseSchema } from '../settings/plugin-config.ts'
import { type Owner, createVariableOwners } from '../settings/plugin-variables.ts'
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

/** Names of which each belongs to one plugin, as an error shows them, by a text that is equal for equal names. */
function listNames ({ kind, definition }: PluginExport): [string, string][] {
  const key: [string, string] = [`${kind} '${definition.key}'`, `its key '${definition.key}'`]
  if (kind !== 'exporter') return [key]
  const { route = definition.key, fileName } = definition as ExporterDefinition
  return [
    key,
    [`route ${route}`, `its route '${route}'`],
    // Two names that differ in case only are one file on some disks.
    [`file ${fileName.normalize().toLowerCase()}`, `its fileName '${fileName}'`]
  ]
}

/**
 * Creates the list of names and variables that plugins use. The first of two plugins with one name or variable wins.
 */
export function createUsedNames () {
  const owners = new Map<string, Owner>()
  const variables = createVariableOwners()
  const ownerOf = ({ definition }: PluginExport, pack: PluginPackage): Owner =>
    ({ key: definition.key, package: pack.name, origin: pack.origin })
  const refuse = (what: string, { package: name, origin }: Owner): LoadError =>
    new LoadError('failed', `${what} belongs to ${name}; its author has to choose another` +
      (origin === 'community' ? `, unless you run svc plugins remove ${name}` : ''))
  return {
    /** @throws LoadError if another plugin has a name or a variable of this one */
    check (plugin: PluginExport, pack: PluginPackage): void {
      for (const [id, shown] of listNames(plugin)) {
        const owner = owners.get(id)
        if (owner !== undefined) throw refuse(shown, owner)
      }
      const foreign = variables.findForeign(ownerOf(plugin, pack), listVariables(plugin.definition))
      if (foreign !== undefined) throw refuse(`its variable ${foreign.variable}`, foreign.owner)
    },
    add (plugin: PluginExport, pack: PluginPackage): void {
      const owner = ownerOf(plugin, pack)
      for (const [id] of listNames(plugin)) owners.set(id, owner)
      variables.add(owner, listVariables(plugin.definition))
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
  const refusal = refuseSchema(kind, configured, options.config)
  if (refusal !== undefined) throw new LoadError('failed', refusal)
  // A wrong setting leaves the plugin defined, because only then can the setting be corrected over the API.
  names.add(plugin, pack)
  candidate.isDefined = true
  define(plugin)
  const settings = readPluginConfig(kind, configured, options.config)
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
  if (kind === 'exporter') followSection(services, configured, options.config)
}
