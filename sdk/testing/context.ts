import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { Cache, Context, FileEntry, Files, Index, Logger, Preferences, ProviderContext } from '../src/context.ts'
import type { Allowance, Limits } from '../src/limits.ts'
import type { LinkMatch, Match } from '../src/metadata.ts'
import type { ProviderDefinition } from '../src/provider.ts'
import { createHttp, type TestHttp } from './http.ts'
import type { PluginDefinition } from '../src/plugin.ts'
import { type PlannedResponse, type RecordedRequest, type Responses, loadResponses } from './responses.ts'
import { checkSchema, fillDefaults } from './schema.ts'

/** When everything in a test was changed last. */
const FILE_TIME = Date.UTC(2026, 0, 2)
// One schema for all contexts: a schema is compiled once.
const NO_OPTIONS = Type.Object({})

export interface ContextOptions<Config = unknown> {
  config?: Config
  /** The only answers there are; a request that fits none of them fails. */
  responses?: Responses
  /** The library: path → text, with forward slashes and no leading one. */
  files?: Readonly<Record<string, string>>
  /** Folders that the configuration names, by its property; each as `files`. */
  folders?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Options of the scan; the defaults of the plugin's own are filled in. */
  options?: Readonly<Record<string, unknown>>
  /** What other sources found for the ROM. */
  found?: Readonly<Record<string, Match | LinkMatch>>
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

/** A context that reaches nothing: requests, files, cache and index live in the test. */
export interface TestContext<Config = unknown> extends ProviderContext<Config, never> {
  /** Every request that was made, in order; answers that came out of the client's cache are not requests. */
  readonly requests: readonly RecordedRequest[]
  /** The messages of the requests nothing was planned for. */
  readonly unplanned: readonly string[]
  /** The planned response each answered request got, in order. */
  readonly answers: readonly PlannedResponse[]
  readonly logs: readonly LogLine[]
  /** What the plugin said of its source's limits and allowances, in order. */
  readonly limits: readonly Pick<Limits, 'concurrency' | 'rates'>[]
  readonly allowances: readonly Allowance[]
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
  return createFullContext(options, undefined)
}

function createFullContext<Config> (
  options: ContextOptions<Config>, definition: AnyDefinition | undefined
): TestContext<Config> {
  const { t, config, signal = new AbortController().signal, files = {}, preferences } = options
  const http = createHttp({ responses: loadResponses(options.responses ?? []), signal, intercept: options.intercept })
  const logs: LogLine[] = []
  t?.after(() => { failOnUnplanned(http) })
  const folders = Object.entries(options.folders ?? {})
    .map(([name, texts]) => [name, createFiles(texts, signal)] as const)
  const scanOptions = fillDefaults(definition?.scanOptions ?? NO_OPTIONS, options.options ?? {})
  const ctx: TestContext<Config> = {
    config: config as Config,
    http,
    requests: http.requests,
    unplanned: http.unplanned,
    answers: http.answers,
    limits: http.limits,
    allowances: http.allowances,
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
    memo: createMemo(signal),
    options: scanOptions as never,
    found: new Map(Object.entries(options.found ?? {})),
    index: createIndex(() => definition?.index?.build(ctx as never), signal),
    folders: Object.fromEntries(folders),
    report: () => {}
  }
  return ctx
}

/**
 * As {@link createContext}, with the configuration as the host would hand it on: checked against the plugin's schema,
 * its defaults filled in.
 *
 * @throws Error when the configuration does not fit the schema.
 */
export function createPluginContext<P extends { definition: AnyDefinition }> (
  plugin: P, { config = {}, ...options }: ContextOptions = {}
): TestContext<ConfigOf<P>> {
  return createSuiteContext(plugin.definition, config, options)
}

/** What a context needs of a definition of any kind. */
type AnyDefinition = PluginDefinition & Pick<ProviderDefinition, 'index' | 'scanOptions'>

/** A context whose `config` suits a plugin of any type: the schema is what vouches for it. */
export type SuiteContext = TestContext<never>

export function createSuiteContext (
  definition: AnyDefinition, config: unknown, options: Omit<ContextOptions, 'config'>
): SuiteContext {
  const { config: schema } = definition
  const filled = schema === undefined ? config : fillDefaults(schema, config)
  if (schema !== undefined) checkSchema(schema, filled, 'the configuration given to the test')
  return createFullContext<never>({ ...options, config: filled as never }, definition)
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
      if (text === undefined) return undefined
      const size = Buffer.byteLength(text)
      if (size > maxBytes) throw new Error(`${path} has ${size} bytes, more than the ${maxBytes} asked for`)
      return text
    },
    async * stream (path) {
      signal.throwIfAborted()
      const text = texts[checkPath(path)]
      if (text !== undefined) yield Buffer.from(text)
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

/** Builds on first use, as the host does. */
function createIndex (build: () => ReturnType<NonNullable<ProviderDefinition['index']>['build']> | undefined, signal: AbortSignal): Index {
  let building: Promise<Map<string, unknown[]>> | undefined
  async function fill (): Promise<Map<string, unknown[]>> {
    const batches = build()
    if (batches === undefined) throw new Error('the plugin declares no index; add one to use ctx.index')
    const values = new Map<string, unknown[]>()
    for await (const batch of batches) {
      for (const [key, value] of batch) values.set(key, [...values.get(key) ?? [], JSON.parse(JSON.stringify(value))])
    }
    return values
  }
  return {
    async getMany (keys) {
      signal.throwIfAborted()
      building ??= fill()
      building.catch(() => { building = undefined })
      const values = await building
      return new Map(keys.flatMap((key) => {
        const found = values.get(key)
        return found === undefined ? [] : [[key, found] as const]
      }))
    },
    async builtAt () {
      signal.throwIfAborted()
      return building === undefined ? undefined : FILE_TIME
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
    entries.set(name, { name, kind, size: kind === 'folder' ? 0 : Buffer.byteLength(text), mtime: FILE_TIME })
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
