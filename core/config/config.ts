import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import { Value, type ValueError } from '@sinclair/typebox/value'
import { FormatRegistry } from '@sinclair/typebox'
import { parseDocument } from 'yaml'
import { type Config, ConfigSchema } from './schema.ts'
import { type Environment, settingsEnvironment } from './environment.ts'
import { followConfig } from './follow.ts'
import { listRoots } from './places.ts'
import { StartError } from '../errors.ts'

export type { Config, ConfigFile } from './schema.ts'

/** A setting: its path in config.yml, its schema and the variable that sets it. */
export interface Setting { path: string[], schema: TSchema, env: string | undefined }

const TRUE_WORDS = new Set(['true', '1', 'yes', 'on'])
const FALSE_WORDS = new Set(['false', '0', 'no', 'off'])

FormatRegistry.Set('date-time', (value) => !Number.isNaN(Date.parse(value)))

/** The leaves of an object schema with their paths. */
export function listSettings (schema: TSchema, path: string[] = []): Setting[] {
  if (schema.type !== 'object' || schema.properties === undefined) {
    return [{ path, schema, env: typeof schema.env === 'string' ? schema.env : undefined }]
  }
  return Object.entries(schema.properties as Record<string, TSchema>)
    .flatMap(([key, property]) => listSettings(property, [...path, key]))
}

/** What a schema allows, in words. */
export function describeType (schema: TSchema): string {
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.join(', ')}`
  if (schema.type === 'boolean') return 'true or false'
  if (schema.type === 'integer' || schema.type === 'number') {
    const range = [schema.minimum === undefined ? '' : ` from ${schema.minimum}`,
      schema.maximum === undefined ? '' : ` to ${schema.maximum}`].join('')
    return `a ${schema.type === 'integer' ? 'whole ' : ''}number${range}`
  }
  if (schema.type === 'array') return 'a list'
  if (schema.type === 'object') return 'a section of keys'
  const rules = [schema.minLength === undefined ? '' : `of at least ${schema.minLength} characters`,
    schema.pattern === undefined ? '' : `of the form ${schema.pattern}`].filter(Boolean)
  return ['a text', ...rules].join(' ')
}

/** An environment variable's text as a value of the schema's type; text that does not fit is returned as it is. */
export function coerceText (text: string, schema: TSchema): unknown {
  const word = text.trim().toLowerCase()
  if (schema.type === 'boolean') return TRUE_WORDS.has(word) ? true : FALSE_WORDS.has(word) ? false : text
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

/** The value at a path, or undefined. */
export function getAt (value: unknown, path: string[]): unknown {
  return path.reduce<unknown>((at, key) =>
    typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined, value)
}

/** @returns the variable of each setting that is set by one, by its path with dots */
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

/** Empty sections of YAML are null; they mean "nothing set". */
function dropNulls (value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, child]) => child !== null)
    .map(([key, child]) => [key, dropNulls(child)]))
}

/**
 * The content of a config file as an object; empty when there is no such file.
 *
 * @throws StartError naming file, line and remedy when it is not YAML or not a mapping.
 */
function readConfigFile (file: string): Record<string, unknown> {
  if (!existsSync(file)) return {}
  const document = parseDocument(readFileSync(file, 'utf8'))
  const [problem] = document.errors
  if (problem !== undefined) {
    throw new StartError(`${file} is not valid YAML: ${problem.message} Correct the file or move it away.`)
  }
  const content: unknown = dropNulls(document.toJS() ?? {})
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new StartError(`${file} must hold keys and values at its top level. Correct the file or move it away.`)
  }
  return content as Record<string, unknown>
}

function describeProblem (problem: ValueError, settings: Setting[], environment: Environment, file: string): string {
  const path = problem.path.split('/').slice(1)
  const setting = settings.find((candidate) => candidate.path.every((key, index) => key === path[index]))
  const env = setting?.env
  const fromEnvironment = env !== undefined && environment[env] !== undefined && environment[env] !== ''
  const key = fromEnvironment ? env : `${path.join('.')} in ${file}`
  const isSecret = setting?.schema.writeOnly === true
  const value = isSecret ? 'the value given' : JSON.stringify(fromEnvironment ? environment[env] : problem.value)
  const fallback = setting?.schema.default === undefined ? '' : `, or remove it to use ${JSON.stringify(setting.schema.default)}`
  return `${key}: ${value} is not ${describeType(problem.schema)}. Set it to ${describeType(problem.schema)}${fallback}.`
}

/** Keys of the file that no setting has: most likely typing errors. */
function findUnknownKeys (content: unknown, schema: TSchema, path: string[] = []): string[] {
  if (schema.properties === undefined || typeof content !== 'object' || content === null) return []
  const properties = schema.properties as Record<string, TSchema>
  return Object.entries(content).flatMap(([key, value]) => {
    const property = properties[key]
    if (property !== undefined) return findUnknownKeys(value, property, [...path, key])
    return schema.additionalProperties === undefined ? [[...path, key].join('.')] : []
  })
}

function readSecretKey (dataDir: string): string {
  const file = join(dataDir, 'secret.key')
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    try {
      writeFileSync(file, randomBytes(32).toString('hex') + '\n', { mode: 0o600, flag: 'wx' })
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code !== 'EEXIST') throw err
    }
  }
  const key = readFileSync(file, 'utf8').trim()
  if (key.length < 16) {
    throw new StartError(`${file} holds no usable key. Put at least 16 random characters into it, or set ` +
      'SVC_AUTH_SECRET_KEY.')
  }
  return key
}

/** Where everything is kept, as the environment says. */
export const dataDirOf = (environment: Environment): string => resolve(environment.SVC_DATA_DIR || './data')

export interface LoadedConfig { config: Config, warnings: string[] }

/**
 * Reads environment over `config.yml` over defaults. Some sections of what is returned follow the file.
 *
 * @throws StartError naming each wrong key, its value and the remedy.
 */
export function loadConfig (environment: Environment = settingsEnvironment()): LoadedConfig {
  const dataDir = dataDirOf(environment)
  const file = join(dataDir, 'config.yml')
  return followConfig(file, () => readConfig(dataDir, file, environment))
}

function readConfig (dataDir: string, file: string, environment: Environment): LoadedConfig {
  const settings = listSettings(ConfigSchema)
  const content = readConfigFile(file)
  const warnings = findUnknownKeys(content, ConfigSchema)
    .map((key) => `${key} in ${file} is not a setting and is ignored; see svc config for the settings there are`)
  const fixed = applyEnvironment(content, settings, environment)
  const filled = Value.Default(ConfigSchema, content)
  if (!Value.Check(ConfigSchema, filled)) {
    const problems = [...Value.Errors(ConfigSchema, filled)]
    const lines = new Set(problems.map((problem) => describeProblem(problem, settings, environment, file)))
    throw new StartError([...lines].join('\n'))
  }
  const roots = listRoots(filled.libraries)
  const library = resolve(filled.library_dir ?? join(dataDir, 'library'))
  if (roots.length > 0 && filled.library_dir !== undefined && !roots.includes(library)) {
    warnings.push(`library_dir counts for nothing beside libraries in ${file}; list ${library} there too, or remove it`)
  }
  const secretKey = filled.auth.secret_key ?? readSecretKey(dataDir)
  const config: Config = {
    ...filled,
    data_dir: dataDir,
    library_dir: roots[0] ?? library,
    auth: { ...filled.auth, secret_key: secretKey },
    file: { path: file, fixed, findProblem: () => null }
  }
  return { config: deepFreeze(config), warnings }
}

function deepFreeze<T> (value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}

/** The configuration as a list of lines `key = value` with the variable's name, secrets masked. */
export function renderConfig (config: Config): string {
  return listSettings(ConfigSchema).map(({ path, schema, env }) => {
    const value = getAt(config, path)
    const shown = schema.writeOnly === true
      ? (value === undefined ? '(not set)' : '********')
      : value === undefined ? '(not set)' : JSON.stringify(path[0] === 'plugins' ? maskPlugins(value) : value)
    return `${path.join('.')} = ${shown}${env === undefined ? '' : `   # ${env}`}`
  }).join('\n')
}

/** Which keys are set for each plugin; the values may be secrets, whose schema only the plugin knows. */
function maskPlugins (value: unknown): unknown {
  return Object.fromEntries(Object.entries(value as Record<string, Record<string, unknown>>)
    .map(([key, section]) => [key, Object.keys(section)]))
}

/** The path under which everything is served: `''`, or `/games` for `https://home.example/games`. */
export function basePath (config: Config): string {
  return new URL(config.server.base_url).pathname.replace(/\/+$/, '')
}

/** The base URL when it names a host others can reach, else null. */
export function shareableBaseUrl (config: Config): string | null {
  const url = new URL(config.server.base_url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isLocal = host === 'localhost' || host.endsWith('.localhost') || host === '0.0.0.0' || host.startsWith('127.') ||
    host === '::1' || host === '::'
  return isLocal ? null : config.server.base_url.replace(/\/+$/, '')
}
