import type { Static, TSchema } from '@sinclair/typebox'
import type { Allowance, Limits } from './limits.ts'
import type { LinkMatch, Match } from './metadata.ts'

/** What a plugin is handed. A plugin reads no environment, no database and no disk on its own. */
export interface Context<Config = unknown> {
  /** The plugin's own configuration, checked against its schema, defaults filled in. */
  readonly config: Config
  readonly http: HttpClient
  readonly log: Logger
  readonly cache: Cache
  readonly files: Files
  /** Aborted when the work is cancelled or its time limit passes. Hand it on; never swallow its reason. */
  readonly signal: AbortSignal
  readonly preferences: Preferences
  /**
   * Runs `create` once per key for the length of one scan (or of one call outside a scan) and shares the promise:
   * for listings and files that every ROM of a platform needs. Keys are the plugin's own; a rejection is not kept.
   */
  memo<T>(key: string, create: () => Promise<T>): Promise<T>
}

/** The context of a plugin with this schema of its configuration. */
export type ContextOf<Config extends TSchema> = Context<Static<Config>>

/** What a provider is handed besides. */
export interface ProviderContext<Config = unknown, Options = unknown> extends Context<Config> {
  /** What the scan was asked for, by the provider's `scanOptions`; outside a scan their defaults. */
  readonly options: Options
  /** What the sources asked before this one found for the ROM, by their key. */
  readonly found: ReadonlyMap<string, Match | LinkMatch>
  /** The local index, when the provider declares one. */
  readonly index: Index
  /** Read-only folders outside the library, by the property of the configuration that names them; only those set. */
  readonly folders: Readonly<Record<string, Files>>
  /** How far long work is. */
  report (progress: { done: number, total?: number, message?: string }): void
}

/** The context of a provider with these schemas of its configuration and of its options of a scan. */
export type ProviderContextOf<Config extends TSchema, Options extends TSchema = TSchema> =
  ProviderContext<Static<Config>, Static<Options>>

/** One value of a local index; several may have one key. */
export type IndexEntry = readonly [key: string, value: unknown]

/** A provider's own store for what it downloads whole, swapped whole after each build. */
export interface Index {
  /** All values of each key, in the order they were built; keys without any are left out. Waits for the first build. */
  getMany (keys: readonly string[]): Promise<ReadonlyMap<string, readonly unknown[]>>
  /** When it was built, in milliseconds since 1970-01-01 UTC; undefined before the first time. */
  builtAt (): Promise<number | undefined>
}

/** What the owner of the library prefers, from `scan.priority.*` and `scan.media`. */
export interface Preferences {
  /**
   * Region codes, most wanted first: `us`, `wor`, `eu`, `jp`, …; for a ROM those of its own where the owner wants
   * these first.
   */
  readonly regions: readonly string[]
  /** Language codes, most wanted first: `en`, `fr`, … */
  readonly languages: readonly string[]
  /** The media kinds to keep besides the cover. */
  readonly media: readonly string[]
}

export interface Logger {
  debug (fields: object, message: string): void
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

export interface RequestOptions {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Appended to the URL; `undefined` and `null` are left out, arrays repeat the name. */
  query?: Record<string, string | number | boolean | undefined | null | readonly (string | number)[]>
  headers?: Record<string, string>
  /** Sent as `application/json`. At most one of `json`, `form` and `body`. */
  json?: unknown
  /** Sent as `application/x-www-form-urlencoded`. */
  form?: Record<string, string>
  body?: string | Uint8Array
  /** Statuses outside 2xx that are answers, not errors, such as 404. */
  accept?: readonly number[]
  /** Milliseconds until the whole answer must be there; default 30,000. */
  timeoutMs?: number
  /** Milliseconds a successful answer may be reused for the same request; default 0. */
  cacheMs?: number
  /** Largest answer in bytes; default 16 MiB. */
  maxBytes?: number
  /** Whether a repeated request is harmless; default true for GET and HEAD. Only such requests are retried. */
  retry?: boolean
  /** How many redirects are followed; default 3, and 0 makes a redirect an error. */
  redirects?: number
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  /** Whether it is an earlier answer that `cacheMs` let be used again: what it tells of limits was true then. */
  readonly isReused: boolean
  text (): string
  /** @throws ServiceDownError when the body is not JSON. */
  json (): unknown
}

/**
 * The only way out. It times out, retries with jitter, honours `Retry-After`, limits sizes and masks secrets in logs.
 *
 * @throws RateLimitedError on 429 · ServiceDownError on 5xx, time-out and connection failure · HttpStatusError on any
 * other status outside 2xx that is not in `accept`.
 */
export interface HttpClient {
  request (url: string, options?: RequestOptions): Promise<HttpResponse>
  /** The parsed JSON body. What it holds is unknown: look before use. */
  json (url: string, options?: RequestOptions): Promise<unknown>
  text (url: string, options?: RequestOptions): Promise<string>
  /** The body as it arrives, for files of hundreds of megabytes; no size limit unless `maxBytes` sets one. */
  stream (url: string, options?: RequestOptions): AsyncIterable<Uint8Array>
  /** The wanted members of a zip, in the order they stand in it; each is read to its end before the next one. */
  unzip (url: string, members: readonly string[], options?: RequestOptions): AsyncIterable<ZipMember>
  /** Takes the place of the declared limits, for as long as the source is not told otherwise; survives a restart. */
  setLimits (limits: Pick<Limits, 'concurrency' | 'rates'>): void
  /** Notes what is left of an allowance, as the service tells. */
  setAllowance (allowance: Allowance): void
}

export interface ZipMember {
  readonly name: string
  /** Bytes, unpacked. */
  readonly size: number
  readonly chunks: AsyncIterable<Uint8Array>
}

/** Keeps JSON values across restarts, apart for every plugin. */
export interface Cache {
  get (key: string): Promise<unknown>
  /** @param ttlMs how long the value is kept, in milliseconds; without it until the plugin deletes it. */
  set (key: string, value: unknown, ttlMs?: number): Promise<void>
  delete (key: string): Promise<void>
}

export interface FileEntry {
  readonly name: string
  readonly kind: 'file' | 'folder'
  /** Bytes. */
  readonly size: number
  /** When it was last changed, in milliseconds since 1970-01-01 UTC. */
  readonly mtime: number
}

/**
 * Read-only view of a folder, such as the library. Paths are relative to it, with forward slashes; nothing outside
 * can be read.
 */
export interface Files {
  /**
   * The text of a file, or undefined when there is none. @throws Error when larger than `maxBytes` (default 64 MiB).
   */
  readText (path: string, maxBytes?: number): Promise<string | undefined>
  /** The bytes of a file as they are read; none when there is no such file. */
  stream (path: string): AsyncIterable<Uint8Array>
  /** The entries of a folder in name order; empty when there is no such folder. */
  list (path: string): Promise<readonly FileEntry[]>
  exists (path: string): Promise<boolean>
}
