import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import { Value, type ValueError } from '@sinclair/typebox/value'
import { FormatRegistry } from '@sinclair/typebox'
import type * as Yaml from 'yaml'
import { type Config, type Setting, createConfigSchema, listLive } from './schema.ts'
import type { ConfigSection } from './section.ts'
import { type Environment, NEW_PASSWORD_VARIABLE } from './environment.ts'
import { followConfig } from './follow-config.ts'
import { describeFormat } from './formats.ts'
import { findMisspeltVariables } from './misspelt.ts'
import { findWrongCrons } from './plugin-crons.ts'
import { listRoots } from './path-mask.ts'
import { findAddedCharacters, requirePlainPaths } from './plain-text.ts'
import { requireUrls } from './database-urls.ts'
import { createDataDir, dataDirOf, explainDataDir } from './data-dir.ts'
import { readBoolean } from './boolean-words.ts'
import { errorCode } from '../files/fs-error.ts'
import { StartError } from '../errors.ts'
import { readStoreAddress } from '../store/s3/address.ts'

export type { Config, ConfigFile, Setting } from './schema.ts'

FormatRegistry.Set('date-time', (value) => !Number.isNaN(Date.parse(value)))

/** Returns the leaves of an object schema with their paths. */
export function listSettings (schema: TSchema, path: string[] = []): Setting[] {
  if (schema.type !== 'object' || schema.properties === undefined) {
    return [{ path, schema, env: typeof schema.env === 'string' ? schema.env : undefined }]
  }
  return Object.entries(schema.properties as Record<string, TSchema>)
    .flatMap(([key, property]) => listSettings(property, [...path, key]))
}

/** Returns a noun phrase for the values that a schema allows. */
export function describeType (schema: TSchema): string {
  if (schema.const !== undefined) return String(schema.const)
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.join(', ')}`
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((one: TSchema) => describeType(one)).join(' or ')
  if (schema.type === 'null') return 'null'
  if (schema.type === 'boolean') return 'true or false'
  if (schema.type === 'integer' || schema.type === 'number') {
    const range = [schema.minimum === undefined ? '' : ` from ${schema.minimum}`,
      schema.maximum === undefined ? '' : ` to ${schema.maximum}`].join('')
    return `a ${schema.type === 'integer' ? 'whole ' : ''}number${range}`
  }
  if (schema.type === 'array') return 'a list'
  if (schema.type === 'object') return 'a section of keys'
  return describeFormat(schema.format) ?? describeText(schema)
}

/**
 * Describes a text setting. Regular expressions are not shown, because few people read them; the description of the
 * setting says what fits.
 */
function describeText ({ minLength, maxLength, pattern, format, description }: TSchema): string {
  if ((pattern !== undefined || format !== undefined) && description !== undefined) {
    return `a text that fits "${description}"`
  }
  if (minLength > 1 && maxLength !== undefined) return `a text of ${minLength} to ${maxLength} characters`
  if (minLength > 1) return `a text of at least ${minLength} characters`
  if (maxLength !== undefined) return `a text of at most ${maxLength} characters`
  return minLength === 1 ? 'a text that is not empty' : 'a text'
}

/** Converts the text of an environment variable to the schema's type; returns text that does not fit unchanged. */
export function coerceText (text: string, schema: TSchema): unknown {
  const word = text.trim().toLowerCase()
  if (schema.type === 'boolean') return readBoolean(word) ?? text
  if (schema.type === 'integer' || schema.type === 'number') return /^-?\d+(\.\d+)?$/.test(word) ? Number(word) : text
  if (schema.type === 'array') return text.split(',').map((part) => part.trim()).filter(Boolean)
  return text
}

function setAt (target: Record<string, unknown>, path: string[], value: unknown): void {
  const [key, ...rest] = path
  if (key === undefined) return
  if (rest.length === 0) {
    target[key] = value
    return
  }
  const next = target[key]
  if (typeof next !== 'object' || next === null) target[key] = {}
  setAt(target[key] as Record<string, unknown>, rest, value)
}

/** Returns the value at a path, or undefined. */
export function getAt (value: unknown, path: string[]): unknown {
  return path.reduce<unknown>((at, key) =>
    typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined, value)
}

/** @returns the environment variable of each setting that has a value from one, by the setting's path with dots */
function applyEnvironment (
  target: Record<string, unknown>, settings: Setting[], environment: Environment
): Map<string, string> {
  const fixed = new Map<string, string>()
  for (const { path, schema, env } of settings) {
    const text = env === undefined ? undefined : environment[env]
    if (env === undefined || text === undefined || text === '') continue
    setAt(target, path, coerceText(text, schema))
    fixed.set(path.join('.'), env)
  }
  return fixed
}

/** Removes nulls: YAML reads an empty section as null, and it means "nothing set". */
function dropNulls (value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, child]) => child !== null)
    .map(([key, child]) => [key, dropNulls(child)]))
}

/** @param alternative to the right to read the file, for the error */
function readText (file: string, alternative: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (err) {
    throw new StartError(`${file} cannot be read: ${(err as Error).message}. Give this user the right to read it, or ` +
      `${alternative}.`, { cause: err })
  }
}

const require = createRequire(import.meta.url)

/** Parses the text; null if it is empty. The parser is loaded at its first use, because most servers have no file. */
function parseYaml (file: string, text: string): unknown {
  if (text === '') return null
  const { parseDocument } = require('yaml') as typeof Yaml
  const document = parseDocument(text)
  const [problem] = document.errors
  if (problem !== undefined) {
    throw new StartError(`${file} is not valid YAML: ${problem.message} Correct the file or move it away.`)
  }
  try {
    return document.toJS()
  } catch (err) {
    // An alias without its anchor fails only here.
    throw new StartError(`${file} is not valid YAML: ${(err as Error).message}. Correct the file or move it away.`, { cause: err })
  }
}

/**
 * Returns the content of a config file as an object.
 *
 * @throws StartError naming file, line and remedy if it is not YAML or not a mapping.
 */
function readContent (file: string, text: string): Record<string, unknown> {
  const content: unknown = dropNulls(parseYaml(file, text) ?? {})
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new StartError(`${file} must hold keys and values at its top level. Correct the file or move it away.`)
  }
  return content as Record<string, unknown>
}

/** Returns the keys of a JSON pointer. */
const readPointer = (pointer: string): string[] =>
  pointer.split('/').slice(1).map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))

const startsWith = (path: string[], start: string[]) => start.every((key, index) => key === path[index])

/**
 * True if the value at a path is a secret, contains one, or belongs to a plugin, because only the plugin knows its
 * secrets.
 */
const mayBeSecret = (path: string[], settings: Setting[]) => path[0] === 'plugins' ||
  settings.some((setting) => setting.schema.writeOnly === true &&
    (startsWith(setting.path, path) || startsWith(path, setting.path)))

function describeWrongValue (problem: ValueError, settings: Setting[], environment: Environment, file: string): string {
  const path = readPointer(problem.path)
  const setting = settings.find((candidate) => startsWith(path, candidate.path))
  const env = setting?.env
  const text = env === undefined ? undefined : environment[env]
  const fromEnvironment = text !== undefined && text !== ''
  const key = fromEnvironment ? env : `${path.join('.')} in ${file}`
  const expected = describeType(problem.schema)
  if (problem.value === undefined) return `${key} is missing. Set it to ${expected}.`
  // The message names a single entry of a list, not the whole list.
  const isEntry = setting !== undefined && path.length > setting.path.length
  const value = mayBeSecret(path, settings) ? 'the value given' : JSON.stringify(fromEnvironment && !isEntry ? text : problem.value)
  const fallback = setting?.schema.default === undefined || isEntry
    ? ''
    : `, or remove it to use ${JSON.stringify(setting.schema.default)}`
  return `${key}: ${value} is not ${expected}. Set it to ${expected}${fallback}.`
}

/** Returns the keys of the file that no setting has: most likely typing errors. */
export function findUnknownKeys (content: unknown, schema: TSchema, path: string[] = []): string[] {
  if (schema.properties === undefined || typeof content !== 'object' || content === null) return []
  const properties = schema.properties as Record<string, TSchema>
  return Object.entries(content).flatMap(([key, value]) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (property !== undefined) return findUnknownKeys(value, property, [...path, key])
    return schema.additionalProperties === undefined ? [[...path, key].join('.')] : []
  })
}

function createSecretKey (dataDir: string, file: string): void {
  createDataDir(dataDir)
  try {
    writeFileSync(file, randomBytes(32).toString('hex') + '\n', { mode: 0o600, flag: 'wx' })
  } catch (err) {
    // Another process of this server created the file first.
    if (errorCode(err) === 'EEXIST' && existsSync(file)) return
    throw explainDataDir(dataDir, err)
  }
}

function readSecretKey (dataDir: string): string {
  const file = join(dataDir, 'secret.key')
  if (!existsSync(file)) createSecretKey(dataDir, file)
  const key = readText(file, 'run this as the user of the server').trim()
  if (key.length < 16) {
    throw new StartError(`${file} holds no usable key. Put at least 16 random characters into it, or set ` +
      'SVC_AUTH_SECRET_KEY.')
  }
  return key
}

export interface LoadedConfig { config: Config, warnings: string[] }

/**
 * Reads environment over `config.yml` over defaults. Some sections of the result follow later changes of the file.
 *
 * @param sections of the features
 * @param startText the content of the file when the server started; null reads the file
 * @throws StartError naming each wrong key, its value and the remedy.
 */
export function loadConfig (
  sections: readonly ConfigSection[], environment: Environment, startText: string | null = null
): LoadedConfig {
  const dataDir = dataDirOf(environment)
  const file = join(dataDir, 'config.yml')
  const schema = createConfigSchema(sections)
  const source = { dataDir, file, schema, settings: listSettings(schema), live: listLive(sections), environment }
  return followConfig(file, source.live, (text) => readConfig(source, text), startText)
}

interface ConfigSource {
  dataDir: string
  file: string
  schema: ReturnType<typeof createConfigSchema>
  /** The leaves of the schema. */
  settings: Setting[]
  /** The sections whose changes take effect at run time. */
  live: readonly string[]
  environment: Environment
}

function readConfig (source: ConfigSource, given: string | null): LoadedConfig {
  const { dataDir, file, schema, settings, live, environment } = source
  const text = given ?? (existsSync(file) ? readText(file, 'move it away') : '')
  const content = readContent(file, text)
  const warnings = [
    ...findUnknownKeys(content, schema)
      .map((key) => `${key} in ${file} is not a setting and is ignored; svc config prints all settings`),
    ...findMisspeltVariables(environment, [...settings.flatMap(({ env }) => env ?? []), NEW_PASSWORD_VARIABLE])
      .map(({ name, nearest }) => `${name} is not a setting of the server and is ignored; did you mean ${nearest}?`),
    ...findAddedCharacters(environment, settings)
  ]
  const fixed = applyEnvironment(content, settings, environment)
  const filled = Value.Default(schema, content)
  if (!Value.Check(schema, filled)) {
    const problems = [...Value.Errors(schema, filled)]
    const lines = new Set(problems.map((problem) => describeWrongValue(problem, settings, environment, file)))
    throw new StartError([...lines].join('\n'))
  }
  requirePlainPaths(filled, fixed, file)
  const wrongCrons = findWrongCrons(filled.plugins, environment, file)
  if (wrongCrons.length > 0) throw new StartError(wrongCrons.join('\n'))
  // The store is created in many processes, so that a missing credential is reported once here.
  if (filled.store.url !== undefined) readStoreAddress(filled.store.url, filled.store)
  const roots = listRoots(filled.libraries)
  const library = resolve(filled.library_dir ?? join(dataDir, 'library'))
  if (roots.length > 0 && filled.library_dir !== undefined && !roots.includes(library)) {
    warnings.push(`library_dir is ignored, because ${file} has libraries; list ${library} there too, or remove library_dir`)
  }
  const secretKey = filled.auth.secret_key ?? readSecretKey(dataDir)
  const config: Config = {
    ...filled,
    data_dir: dataDir,
    library_dir: roots[0] ?? library,
    auth: { ...filled.auth, secret_key: secretKey },
    file: {
      path: file,
      text,
      fixed,
      live,
      findProblem: () => null,
      listSettings: () => settings,
      read: (content) => readConfig(source, content).config
    }
  }
  requireUrls(config)
  return { config: deepFreeze(config), warnings }
}

function deepFreeze<T> (value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}

/** Renders the configuration as lines `key = value` with the variable's name, and masks secrets. */
export function renderConfig (config: Config): string {
  return config.file.listSettings().map(({ path, schema, env }) => {
    const value = getAt(config, path)
    const shown = schema.writeOnly === true
      ? (value === undefined ? '(not set)' : '********')
      : value === undefined ? '(not set)' : JSON.stringify(path[0] === 'plugins' ? maskPlugins(value) : value)
    return `${path.join('.')} = ${shown}${env === undefined ? '' : `   # ${env}`}`
  }).join('\n')
}

/**
 * Returns only the keys that are set for each plugin. The values may be secrets, because only the plugin knows its
 * schema.
 */
function maskPlugins (value: unknown): unknown {
  return Object.fromEntries(Object.entries(value as Record<string, Record<string, unknown>>)
    .map(([key, section]) => [key, Object.keys(section)]))
}

/** Returns the path under which everything is served: `''`, or `/games` for `https://home.example/games`. */
export function basePath (config: Config): string {
  return new URL(config.server.base_url).pathname.replace(/\/+$/, '')
}

/** Returns the base URL if other machines can reach its host, else null. */
export function shareableBaseUrl (config: Config): string | null {
  const url = new URL(config.server.base_url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isLocal = host === 'localhost' || host.endsWith('.localhost') || host === '0.0.0.0' || host.startsWith('127.') ||
    host === '::1' || host === '::'
  return isLocal ? null : config.server.base_url.replace(/\/+$/, '')
}
