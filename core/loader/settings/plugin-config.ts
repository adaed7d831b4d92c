import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import { type TSchema, Type, TypeGuard } from '@sinclair/typebox'
import { originOf } from '../../http/addresses.ts'
import type { Config } from '../../config/config.ts'
import { describeType } from '../../config/describe-type.ts'
import { type Environment, settingsEnvironment } from '../../config/environment.ts'
import { errorCode, isNotFoundError } from '../../files/fs-error.ts'
import { type ConfiguredPlugin, collectOwn, collectShared, isFolder, nameOf, pickStored, propertiesOf, sectionNameOf } from './operator-settings.ts'
import { isMail, mayRead } from './plugin-variables.ts'

/** The configuration of a plugin after its schema was applied. */
export type PluginConfig =
  { status: 'ready', value: Record<string, unknown>, secrets: string[], origins: string[], folders: Record<string, string> } |
  { status: 'disabled' | 'failed', reason: string }

/**
 * Returns the settings of a plugin's account, as the operator sets them: its secrets, and required settings without a
 * default.
 */
export function nameCredentials (kind: string, key: string, schema: TSchema | undefined): string[] {
  const properties = Object.entries(propertiesOf(schema))
  const required: unknown[] = Array.isArray(schema?.required) ? schema.required : []
  const isNeeded = (name: string, property: TSchema) => required.includes(name) && !('default' in property)
  return properties.filter(([name, property]) => property.writeOnly === true || isNeeded(name, property))
    .map(([name, property]) => nameOf(key, name, property, sectionNameOf(kind)))
}

/**
 * Returns the addresses that the operator or an administrator set for this plugin; they are trusted by exact host and
 * port. A default of the schema is the plugin's choice, and a shared value was set for the server: neither is trusted.
 */
function findOrigins (values: Record<string, unknown>): string[] {
  return Object.values(values).flatMap((value) =>
    typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value) ? [originOf(value)] : [])
}

/** The variables that a plugin names. */
export const listVariables = ({ config }: Pick<ConfiguredPlugin, 'config'>): string[] =>
  Object.values(propertiesOf(config)).flatMap(({ env }) => typeof env === 'string' ? [env] : [])

/** Returns the reason why the variables that a plugin names are refused, or undefined. */
function refuseVariables (
  kind: string, plugin: ConfiguredPlugin, properties: Record<string, TSchema>, config: Config
): string | undefined {
  const [refused] = Object.entries(properties)
    .filter(([, { env }]) => typeof env === 'string' && !mayRead(kind, plugin, env, config))
  if (refused === undefined) return undefined
  const [property, { env }] = refused
  if (isMail(String(env))) {
    return `its setting ${property} names the variable ${String(env)}, which only channels may read, because it belongs to the account of the mail server`
  }
  const prefix = plugin.key.toUpperCase().replaceAll('-', '_')
  return `its setting ${property} names the variable ${String(env)}, which is not its own: use one that begins with ${prefix}_, ` +
    `such as ${prefix}_${property.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()}`
}

/** Refuses a folder setting that is no text or has a default, because only the operator decides what may be read. */
function refuseFolderSchemas (properties: Record<string, TSchema>): string | undefined {
  const refused = Object.entries(properties)
    .find(([, schema]) => isFolder(schema) && (!TypeGuard.IsString(schema) || 'default' in schema))
  return refused && `its setting ${refused[0]} is a folder, so its schema must be Type.String without a default`
}

/** Returns the folders that the operator set, by property. */
function findFolders (properties: Record<string, TSchema>, values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(properties).flatMap(([property, schema]) => {
    const path = values[property]
    return isFolder(schema) && typeof path === 'string' && path !== '' ? [[property, path]] : []
  }))
}

/** Returns the reason why a folder cannot be read, or undefined. */
function refuseFolder (path: string): string | undefined {
  if (!isAbsolute(path)) return 'is not an absolute path; give the path from the root of the disk'
  try {
    if (!statSync(path).isDirectory()) return 'is not a folder; give the path of the folder itself'
    accessSync(path, constants.R_OK | constants.X_OK)
    return undefined
  } catch (err) {
    if (isNotFoundError(err)) return 'does not exist; correct it, or mount the folder'
    return `cannot be read (${errorCode(err)}); give the server's user permission to read it`
  }
}

/**
 * Returns the reason why the schema of a plugin is refused, whatever its settings are; undefined if it is valid. The
 * author has to correct it.
 */
export function refuseSchema (kind: string, plugin: ConfiguredPlugin, config: Config): string | undefined {
  const { config: schema } = plugin
  if (schema !== undefined && !TypeGuard.IsObject(schema)) {
    return 'its config is not a schema made with Type.Object of @svc/plugin-sdk'
  }
  const properties = propertiesOf(schema)
  return refuseVariables(kind, plugin, properties, config) ?? refuseFolderSchemas(properties)
}

/**
 * Applies a plugin's own schema to its variables, its section of `config.yml` and its stored settings. The first of
 * these that has a setting decides it.
 */
export function readPluginConfig (
  kind: string, plugin: ConfiguredPlugin, config: Config, env: Environment = settingsEnvironment()
): PluginConfig {
  const { key, config: schema, stored = {} } = plugin
  const refusal = refuseSchema(kind, plugin, config)
  if (refusal !== undefined) return { status: 'failed', reason: refusal }
  const properties = propertiesOf(schema)
  const toName = (path: string, setting = properties[path] ?? {} as TSchema) =>
    nameOf(key, path, setting, sectionNameOf(kind))
  const own = collectOwn({ kind, key, properties }, config, env)
  const picked = pickStored(stored, schema, own)
  const given = { ...picked, ...own }
  const values = { ...given, ...collectShared(given, properties, config, env) }
  const isStored = (property: string) => Object.hasOwn(picked, property) && own[property] === undefined
  if (values.enabled === false) {
    return { status: 'disabled', reason: `switched off ${isStored('enabled') ? 'in its settings' : `by ${toName('enabled')}`}` }
  }
  const configSchema = schema ?? Type.Object({})
  const filled = Value.Default(configSchema, values) as Record<string, unknown>
  if (filled.enabled === false) return { status: 'disabled', reason: `off unless ${toName('enabled')} is true` }
  const required = TypeGuard.IsObject(schema) ? schema.required ?? [] : []
  const missing = required.filter((property) => filled[property] === undefined)
  if (missing.length > 0) return { status: 'disabled', reason: `set ${missing.map((property) => toName(property)).join(' and ')}` }
  const [problem] = [...Value.Errors(configSchema, filled)]
  if (problem !== undefined) {
    const [property = '', ...inner] = problem.path.split('/').slice(1)
    const propertySchema = properties[property] ?? problem.schema
    const shown = propertySchema.writeOnly === true ? 'the value given' : JSON.stringify(problem.value)
    const path = [property, ...inner].join('.')
    const wrong = `${shown} is not ${describeType(problem.schema)}`
    // A newer version of the plugin may refuse what an administrator stored for the former one.
    if (isStored(property)) return { status: 'failed', reason: `its setting ${path}: ${wrong}; correct it in the settings of the plugin` }
    return { status: 'failed', reason: `${toName(path, propertySchema)}: ${wrong}; correct or remove it` }
  }
  const secrets = Object.entries(properties).filter(([, property]) => property.writeOnly === true)
    .map(([name]) => filled[name]).filter((value) => typeof value === 'string')
  const folders = findFolders(properties, filled)
  for (const [property, path] of Object.entries(folders)) {
    const reason = refuseFolder(path)
    if (reason !== undefined) return { status: 'failed', reason: `${toName(property)}: '${path}' ${reason}` }
  }
  return { status: 'ready', value: filled, secrets, origins: findOrigins(given), folders }
}

/** Makes an exporter's settings follow its section of `config.yml`. Invalid content leaves the settings unchanged. */
export function followSection (services: { config: unknown }, exporter: ConfiguredPlugin, config: Config): void {
  let settings = services.config
  Object.defineProperty(services, 'config', {
    enumerable: true,
    get: () => {
      const now = readPluginConfig('exporter', exporter, config)
      if (now.status === 'ready') settings = now.value
      return settings
    }
  })
}
