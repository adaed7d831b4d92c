import type { Static, TObject } from '@sinclair/typebox'
import type { Cache, Context, FileEntry, Files, Logger, Preferences } from '../src/context.ts'
import { createHttp, type TestHttp } from './http.ts'
import { type PlannedResponse, type RecordedRequest, type Responses, loadResponses } from './responses.ts'
import { checkSchema, fillDefaults } from './schema.ts'

export interface ContextOptions<Config = unknown> {
  config?: Config
  /** The only answers there are; a request that fits none of them fails. */
  responses?: Responses
  /** The library: path → text, with forward slashes and no leading one. */
  files?: Readonly<Record<string, string>>
  /** Default: regions us, wor, ss, eu, jp; languages en, fr; every kind of media. */
  preferences?: Partial<Preferences>
  signal?: AbortSignal
  /** With it, an unplanned request fails the test even when the plugin swallows the error. */
  t?: { after (check: () => void): unknown }
  /** Asked before the planned responses are, for a test that answers by its own rule. */
  intercept?: (request: RecordedRequest, index: number) => PlannedResponse | undefined
}

export interface LogLine {
  readonly level: keyof Logger
  readonly fields: object
  readonly message: string
}

/** A context that reaches nothing: requests, files and cache live in the test. */
export interface TestContext<Config = unknown> extends Context<Config> {
  /** Every request that was made, in order; answers that came out of the client's cache are not requests. */
  readonly requests: readonly RecordedRequest[]
  /** The messages of the requests nothing was planned for. */
  readonly unplanned: readonly string[]
  /** The planned response each answered request got, in order. */
  readonly answers: readonly PlannedResponse[]
  readonly logs: readonly LogLine[]
}

/** The type of a plugin's `config`. */
export type ConfigOf<P> = P extends { definition: { config?: infer Schema } }
  ? (Extract<Schema, TObject> extends infer S extends TObject ? Static<S> : unknown)
  : unknown

/**
 * A context for tests. Every part of it rejects with the reason of `signal` once that is aborted.
 *
 * @throws Error when a folder of responses cannot be read.
 * @example
 * const ctx = createContext({ config: { baseUrl: 'https://games.example' }, responses: [{ url: '*', json: [] }] })
 */
export function createContext<Config = unknown> (options: ContextOptions<Config> = {}): TestContext<Config> {
  const { t, config, signal = new AbortController().signal, files = {}, preferences } = options
  const http = createHttp({ responses: loadResponses(options.responses ?? []), signal, intercept: options.intercept })
  const logs: LogLine[] = []
  t?.after(() => { failOnUnplanned(http) })
  return {
    config: config as Config,
    http,
    requests: http.requests,
    unplanned: http.unplanned,
    answers: http.answers,
    logs,
    log: createLogger(logs),
    cache: createCache(signal),
    files: createFiles(files, signal),
    signal,
    preferences: {
      regions: ['us', 'wor', 'ss', 'eu', 'jp'],
      languages: ['en', 'fr'],
      media: ['box2d', 'box3d', 'physical', 'screenshot', 'title_screen', 'marquee', 'logo', 'fanart', 'video', 'manual'],
      ...preferences
    },
    memo: createMemo(signal)
  }
}

/**
 * As {@link createContext}, with the configuration as the host would hand it on: checked against the plugin's schema,
 * its defaults filled in.
 *
 * @throws Error when the configuration does not fit the schema.
 */
export function createPluginContext<P extends { definition: { config?: TObject } }> (
  plugin: P, { config = {}, ...options }: ContextOptions = {}
): TestContext<ConfigOf<P>> {
  return createSuiteContext(plugin.definition.config, config, options)
}

/** A context whose `config` suits a plugin of any type: the schema is what vouches for it. */
export type SuiteContext = TestContext<never>

export function createSuiteContext (
  schema: TObject | undefined, config: unknown, options: Omit<ContextOptions, 'config'>
): SuiteContext {
  const filled = schema === undefined ? config : fillDefaults(schema, config)
  if (schema !== undefined) checkSchema(schema, filled, 'the configuration given to the test')
  return createContext<never>({ ...options, config: filled as never })
}

/** @throws Error naming the first request nothing was planned for. */
export function failOnUnplanned ({ unplanned }: Pick<TestHttp, 'unplanned'>) {
  if (unplanned[0] !== undefined) throw new Error(unplanned[0])
}

function createLogger (lines: LogLine[]): Logger {
  const at = (level: keyof Logger) => (fields: object, message: string) => { lines.push({ level, fields, message }) }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function createCache (signal: AbortSignal): Cache {
  const entries = new Map<string, { json: string, until: number }>()
  return {
    async get (key) {
      signal.throwIfAborted()
      const entry = entries.get(key)
      const value: unknown = entry === undefined || entry.until <= Date.now() ? undefined : JSON.parse(entry.json)
      return value
    },
    async set (key, value, ttlMs = Infinity) {
      signal.throwIfAborted()
      entries.set(key, { json: JSON.stringify(value) ?? 'null', until: Date.now() + ttlMs })
    },
    async delete (key) {
      signal.throwIfAborted()
      entries.delete(key)
    }
  }
}

function createFiles (texts: Readonly<Record<string, string>>, signal: AbortSignal): Files {
  const paths = Object.keys(texts)
  const isFolder = (path: string) => paths.some((file) => file.startsWith(`${path}/`))
  return {
    async readText (path, maxBytes = 64 * 1024 * 1024) {
      signal.throwIfAborted()
      const text = texts[checkPath(path)]
      if (text === undefined) return null
      const size = Buffer.byteLength(text)
      if (size > maxBytes) throw new Error(`${path} has ${size} bytes, more than the ${maxBytes} asked for`)
      return text
    },
    async list (path) {
      signal.throwIfAborted()
      return listFolder(texts, checkPath(path))
    },
    async exists (path) {
      signal.throwIfAborted()
      return texts[checkPath(path)] !== undefined || isFolder(path)
    }
  }
}

function listFolder (texts: Readonly<Record<string, string>>, folder: string): FileEntry[] {
  const prefix = folder === '' ? '' : `${folder}/`
  const entries = new Map<string, FileEntry>()
  for (const [path, text] of Object.entries(texts)) {
    if (!path.startsWith(prefix)) continue
    const [name = '', ...below] = path.slice(prefix.length).split('/')
    const kind = below.length > 0 ? 'folder' : 'file'
    entries.set(name, { name, kind, size: kind === 'folder' ? 0 : Buffer.byteLength(text) })
  }
  return [...entries.values()].sort((a, b) => a.name < b.name ? -1 : 1)
}

function checkPath (path: string): string {
  if (!path.startsWith('/') && !path.includes('\\') && !path.split('/').includes('..')) return path
  throw new Error(`"${path}" leaves the library; use a path relative to it, with forward slashes`)
}

function createMemo (signal: AbortSignal): Context['memo'] {
  const promises = new Map<string, Promise<unknown>>()
  return async function memo<T> (key: string, create: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const shared = promises.get(key) ?? create()
    promises.set(key, shared)
    try {
      return await shared as T
    } catch (err) {
      promises.delete(key)
      throw err
    }
  }
}
