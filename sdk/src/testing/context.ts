import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { Cache, Context, FileEntry, Files, Index, Logger, Preferences, ProviderContext } from '../context.ts'
import type { Allowance, Limits } from '../limits.ts'
import type { LookupStep } from '../lookup-step.ts'
import type { LinkMatch, Match } from '../metadata.ts'
import type { ProviderDefinition } from '../provider.ts'
import { createHttp, type TestHttp } from './http.ts'
import type { PluginDefinition } from '../plugin.ts'
import { type PlannedResponse, type RecordedRequest, type Responses, loadResponses } from './responses.ts'
import { checkSchema, fillDefaults } from './schema.ts'

/** The modification time of every file and index in a test. */
const FILE_TIME = Date.UTC(2026, 0, 2)
// One schema for all contexts, because each schema is compiled once.
const NO_OPTIONS = Type.Object({})

/** The content of a test context. Everything has a default. */
export interface ContextOptions<Config = unknown> {
  config?: Config
  /** The only available responses; a request that matches none of them fails. */
  responses?: Responses
  /** The library: path → text, with forward slashes and no leading slash. */
  files?: Readonly<Record<string, string>>
  /** The folders that the configuration names, by property; each in the form of `files`. */
  folders?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Options of the scan; defaults come from the plugin's schema. */
  options?: Readonly<Record<string, unknown>>
  /** Matches of the ROM at other providers. */
  found?: Readonly<Record<string, Match | LinkMatch>>
  /** Default: regions us, wor, ss, eu, jp; languages en, fr; all kinds of media. */
  preferences?: Partial<Preferences>
  signal?: AbortSignal
  /** If set, an unplanned request fails the test even when the plugin swallows the error. */
  t?: { after (check: () => void): unknown }
  /** Called before the planned responses, for a test that responds by its own rule. */
  intercept?: (request: RecordedRequest, index: number) => PlannedResponse | undefined
}

/** One call of `ctx.log`. */
export interface LogLine {
  readonly level: keyof Logger
  readonly fields: object
  readonly message: string
}

/** A context without access to the outside: requests, files, cache and index live in the test. */
export interface TestContext<Config = unknown> extends ProviderContext<Config, never> {
  /** All requests in order, without those that the client's cache served. */
  readonly requests: readonly RecordedRequest[]
  /** The error messages of unplanned requests. */
  readonly unplanned: readonly string[]
  /** The planned response to each answered request, in order. */
  readonly answers: readonly PlannedResponse[]
  readonly logs: readonly LogLine[]
  /** The limits and allowances that the plugin reported, in order. */
  readonly limits: readonly Pick<Limits, 'concurrency' | 'rates'>[]
  readonly allowances: readonly Allowance[]
  /** The steps that the provider passed to `explain`, in order. */
  readonly steps: readonly LookupStep[]
}

/** The type of a plugin's `config`. */
export type ConfigOf<P> = P extends { definition: { config?: infer Schema } }
  ? (Extract<Schema, TObject> extends infer S extends TObject ? Static<S> : unknown)
  : unknown

/**
 * Creates a context for tests. Every part of the context rejects with the reason of `signal` once the signal aborts.
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
  const steps: LookupStep[] = []
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
    report: () => {},
    steps,
    explain: (step) => { steps.push(step) }
  }
  return ctx
}

/**
 * Creates a context like {@link createContext}, with the configuration as the host passes it: checked against the
 * plugin's schema, with defaults filled in.
 *
 * @throws Error when the configuration does not match the schema.
 */
export function createPluginContext<P extends { definition: AnyDefinition }> (
  plugin: P, { config = {}, ...options }: ContextOptions = {}
): TestContext<ConfigOf<P>> {
  return createSuiteContext(plugin.definition, config, options)
}

/** The parts of a definition of any kind that a context needs. */
type AnyDefinition = PluginDefinition & Pick<ProviderDefinition, 'index' | 'scanOptions'>

/** A context whose `config` fits a plugin of any type, because the schema has checked it. */
export type SuiteContext = TestContext<never>

export function createSuiteContext (
  definition: AnyDefinition, config: unknown, options: Omit<ContextOptions, 'config'>
): SuiteContext {
  const { config: schema } = definition
  const filled = schema === undefined ? config : fillDefaults(schema, config)
  if (schema !== undefined) checkSchema(schema, filled, 'the configuration given to the test')
  return createFullContext<never>({ ...options, config: filled as never }, definition)
}

/** @throws Error that names the first unplanned request. */
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
      if (size > maxBytes) throw new Error(`${path} has ${size} bytes, but only ${maxBytes} are allowed`)
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

/** Builds the index on first use, like the host. */
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
