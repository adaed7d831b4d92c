import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Value, type ValueError } from '@sinclair/typebox/value'
import { type Config, type Setting, createConfigSchema, listLive } from './schema.ts'
import type { ConfigSection } from './section.ts'
import { findUnknownKeys, readContent, readText } from './config-file.ts'
import { requireUrls } from './database-urls.ts'
import { dataDirOf } from './data-dir.ts'
import { describeType } from './describe-type.ts'
import { type Environment, NEW_PASSWORD_VARIABLE } from './environment.ts'
import { followConfig } from './follow-config.ts'
import { findMisspeltVariables } from './misspelt.ts'
import { listRoots } from './path-mask.ts'
import { findAddedCharacters, requirePlainPaths } from './plain-text.ts'
import { findWrongCrons } from './plugin-crons.ts'
import { readSecretKey } from './secret-key.ts'
import { coerceText, listSettings } from './setting-values.ts'
import { StartError } from '../errors.ts'
import { readStoreAddress } from '../store/s3/address.ts'

export type { Config, ConfigFile, Setting } from './schema.ts'

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
