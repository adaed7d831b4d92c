import type { TSchema } from '@sinclair/typebox'
import type { Config } from '../../config/config.ts'
import { coerceText, getAt } from '../../config/setting-values.ts'
import { type Environment, settingsEnvironment } from '../../config/environment.ts'
import { isShared } from './plugin-variables.ts'
import { isChoice, isSecret } from './setting-kinds.ts'
import type { StoredValues } from './stored-settings.ts'

/** The part of a plugin's definition that its configuration needs, and its stored settings. */
export interface ConfiguredPlugin { key: string, name: string, config?: TSchema | undefined, stored?: StoredValues }

const sectionOf = (parent: unknown, key: string): Record<string, unknown> => {
  const section = typeof parent === 'object' && parent !== null ? (parent as Record<string, unknown>)[key] : undefined
  return typeof section === 'object' && section !== null ? section as Record<string, unknown> : {}
}

export const propertiesOf = (schema: TSchema | undefined) => (schema?.properties ?? {}) as Record<string, TSchema>

/** Returns the name of a setting for messages: its variable, or its path in config.yml. */
export const nameOf = (key: string, property: string, schema: TSchema, sectionName: string) =>
  typeof schema.env === 'string' ? schema.env : `${sectionName}.${key}.${property} in config.yml`

/**
 * Returns the section for a kind of plugin. Exporters are configured in `scan.<key>`, the established place of
 * frontends' settings.
 */
export const sectionNameOf = (kind: string) => kind === 'exporter' ? 'scan' : 'plugins'

/** Returns the server's own setting with a variable of that name, from `config.yml` or the variable. */
function readShared (name: string, config: Config): unknown {
  const shared = config.file.listSettings().find(({ env }) => env === name)
  return shared === undefined ? undefined : getAt(config, shared.path)
}

const readVariable = (schema: TSchema, env: Environment): unknown => {
  const text = typeof schema.env === 'string' ? env[schema.env] : undefined
  return text === undefined || text === '' ? undefined : coerceText(text, schema)
}

/** The section of a plugin in the configuration, with the schema of each setting. */
interface PluginSection { kind: string, key: string, properties: Record<string, TSchema> }

/** Collects the settings that the operator set for the plugin, in `config.yml` or by its variables. */
export function collectOwn ({ kind, key, properties }: PluginSection, config: Config, env: Environment) {
  const values = structuredClone(sectionOf(config[sectionNameOf(kind)], key))
  if (kind === 'exporter') delete values.export
  for (const [property, schema] of Object.entries(properties)) {
    const value = isShared(String(schema.env)) ? undefined : readVariable(schema, env)
    if (value !== undefined) values[property] = value
  }
  return values
}

/**
 * Collects the settings that the plugin shares with the server: the variable, else the plugin's section, else the
 * server's.
 */
export function collectShared (
  values: Record<string, unknown>, properties: Record<string, TSchema>, config: Config, env: Environment
) {
  const shared = Object.entries(properties).filter(([, schema]) => isShared(String(schema.env)))
  return Object.fromEntries(shared.flatMap(([property, schema]) => {
    const value = readVariable(schema, env) ?? values[property] ?? readShared(String(schema.env), config)
    return value === undefined ? [] : [[property, value]]
  }))
}

export const isFolder = (schema: TSchema) => schema.folder === true

/** True if an administrator may store the setting: no folder, and no setting that the plugin shares with the server. */
const isStorable = (schema: TSchema) => !isFolder(schema) && !isShared(String(schema.env))

/**
 * Returns the stored values that apply: of settings that the schema still has and that an administrator may store. If
 * the operator set a secret, stored texts and numbers do not apply, because one may decide where the secret is sent.
 *
 * @param own the values that the operator set
 */
export function pickStored (
  stored: StoredValues, schema: TSchema | undefined, own: Readonly<Record<string, unknown>>
): StoredValues {
  const properties = propertiesOf(schema)
  const hasOwnSecret = Object.entries(properties)
    .some(([name, property]) => isSecret(property) && own[name] !== undefined)
  return Object.fromEntries(Object.entries(stored).filter(([name]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property === undefined || !isStorable(property)) return false
    return !hasOwnSecret || isSecret(property) || isChoice(property)
  }))
}

/** The settings that only the operator changes. */
export interface OperatorSettings {
  /** The values in config.yml and variables, by setting. */
  values: Record<string, unknown>
  /** The variable or the path in config.yml that decides each setting. */
  sources: Record<string, string>
}

/** Returns the settings of a plugin that the operator set, and those that nobody else may set. */
export function readOperatorSettings (
  kind: string, { key, config: schema }: ConfiguredPlugin, config: Config
): OperatorSettings {
  const env = settingsEnvironment()
  const properties = propertiesOf(schema)
  const own = collectOwn({ kind, key, properties }, config, env)
  const values = { ...own, ...collectShared(own, properties, config, env) }
  const sources = Object.entries(properties).flatMap(([name, property]) => {
    if (values[name] === undefined && isStorable(property)) return []
    const isInFile = isStorable(property) && readVariable(property, env) === undefined
    return [[name, nameOf(key, name, isInFile ? {} as TSchema : property, sectionNameOf(kind))]]
  })
  const known = Object.entries(values).filter(([name]) => Object.hasOwn(properties, name))
  return { values: Object.fromEntries(known), sources: Object.fromEntries(sources) as Record<string, string> }
}
