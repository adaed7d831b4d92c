import type { Static, TSchema } from '@sinclair/typebox'
import type { Allowance, Limits } from './limits.ts'
import type { LookupStep } from './lookup-step.ts'
import type { LinkMatch, Match } from './metadata.ts'

/** The host services that a plugin receives. A plugin never reads the environment, a database or a disk by itself. */
export interface Context<Config = unknown> {
  /** The plugin's own configuration, checked against its schema, with defaults filled in. */
  readonly config: Config
  readonly http: HttpClient
  readonly log: Logger
  readonly cache: Cache
  readonly files: Files
  /** Aborts when the work is cancelled or exceeds its time limit. Pass the signal on; never swallow its reason. */
  readonly signal: AbortSignal
  readonly preferences: Preferences
  /**
   * Runs `create` once per key for the length of one scan (or of one call outside a scan) and shares the promise. Use
   * it for listings and files that every ROM of a platform needs. Keys belong to the plugin; a rejection is not
   * cached.
   */
  memo<T>(key: string, create: () => Promise<T>): Promise<T>
}

/** The context of a plugin whose configuration has this schema. */
export type ContextOf<Config extends TSchema> = Context<Static<Config>>

/** The additional host services of a provider. */
export interface ProviderContext<Config = unknown, Options = unknown> extends Context<Config> {
  /** The options of the current scan, by the provider's `scanOptions`; outside a scan their defaults. */
  readonly options: Options
  /** Matches of the ROM at providers that ran before this one, by their key. */
  readonly found: ReadonlyMap<string, Match | LinkMatch>
  /** The local index, if the provider declares one. */
  readonly index: Index
  /** Read-only folders outside the library, by the configuration property that names them; only those that are set. */
  readonly folders: Readonly<Record<string, Files>>
  /** Reports the progress of long work. */
  report (progress: { done: number, total?: number, message?: string }): void
  /**
   * Records one step of `identify` or `getById`. The server stores the steps with the match, or with the lookup that
   * gave none, and shows them to people who ask why.
   */
  readonly explain: (step: LookupStep) => void
}

/** The context of a provider with these schemas of its configuration and scan options. */
export type ProviderContextOf<Config extends TSchema, Options extends TSchema = TSchema> =
  ProviderContext<Static<Config>, Static<Options>>

/** One value of a local index; several values may share one key. */
export type IndexEntry = readonly [key: string, value: unknown]

/** A provider's own store for data that it downloads as a whole; each build replaces the entire index. */
export interface Index {
  /** Returns all values of each key, in build order, and skips keys without values. Waits for the first build. */
  getMany (keys: readonly string[]): Promise<ReadonlyMap<string, readonly unknown[]>>
  /** Returns the time of the last build in milliseconds since 1970-01-01 UTC; undefined before the first build. */
  builtAt (): Promise<number | undefined>
}

/** Preferences of the operator, from `scan.priority.*` and `scan.media`. */
export interface Preferences {
  /**
   * Region codes, most wanted first: `us`, `wor`, `eu`, `jp`, …. For a ROM, its own regions come first if the
   * operator prefers that.
   */
  readonly regions: readonly string[]
  /** Language codes, most wanted first: `en`, `fr`, … */
  readonly languages: readonly string[]
  /** The media kinds to store besides the cover. */
  readonly media: readonly string[]
}

/**
 * The log of the server, with the key of the plugin in each line. Fields come first, then a message without values:
 * `log.warn({ id }, 'no cover')`. Secrets of the configuration are masked.
 */
export interface Logger {
  debug (fields: object, message: string): void
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

/** Options of one request. Times are in milliseconds, sizes in bytes. */
export interface RequestOptions {
  /** Default `GET`. */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Appended to the URL. `undefined` and `null` are skipped; arrays repeat the name. */
  query?: Record<string, string | number | boolean | undefined | null | readonly (string | number)[]>
  headers?: Record<string, string>
  /** Sent as `application/json`. At most one of `json`, `form` and `body`. */
  json?: unknown
  /** Sent as `application/x-www-form-urlencoded`. */
  form?: Record<string, string>
  body?: string | Uint8Array
  /** Statuses outside 2xx, such as 404, that return a response instead of an error. */
  accept?: readonly number[]
  /** Milliseconds until the response must be complete; default 30,000. */
  timeoutMs?: number
  /** Milliseconds for which a successful response is cached for the same request; default 0. */
  cacheMs?: number
  /** Maximum size of the response in bytes; default 16 MiB. */
  maxBytes?: number
  /**
   * True if the status says everything: the response then has the first `maxBytes` of a longer body, or the part that
   * arrived of a body that breaks off or takes too long, in place of an error. It is not cached. Default false.
   */
  truncate?: boolean
  /** True if the request may be repeated safely; default true for GET and HEAD. Only such requests are retried. */
  retry?: boolean
  /** Maximum number of redirects to follow; default 3, and 0 makes a redirect an error. */
  redirects?: number
}

/** A complete response. Header names are in lower case; repeated headers are joined by `, `. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body, decompressed. */
  readonly bytes: Uint8Array
  /** True if the response comes from the cache (`cacheMs`). Rate-limit values in it date from the original request. */
  readonly isReused: boolean
  /** Decodes the body by the charset of its `content-type`; default UTF-8. */
  text (): string
  /** @throws ServiceDownError when the body is not JSON. */
  json (): unknown
}

/**
 * The only way to reach the network. It times out, retries with jitter, honours `Retry-After`, limits sizes and masks
 * secrets in logs.
 *
 * @throws RateLimitedError on 429 · ServiceDownError on 5xx, time-out and connection failure · HttpStatusError on any
 * other status outside 2xx that is not in `accept`.
 */
export interface HttpClient {
  /** Returns a response with a status of 2xx or of `accept`. */
  request (url: string, options?: RequestOptions): Promise<HttpResponse>
  /** Returns the parsed JSON body. Its shape is unknown: check before use. */
  json (url: string, options?: RequestOptions): Promise<unknown>
  /** Returns the body as text. */
  text (url: string, options?: RequestOptions): Promise<string>
  /**
   * Yields the body in chunks as they arrive, for files of hundreds of megabytes. No size limit unless `maxBytes` is
   * set.
   */
  stream (url: string, options?: RequestOptions): AsyncIterable<Uint8Array>
  /** Yields the requested members of a zip in archive order. Read each member to its end before the next one. */
  unzip (url: string, members: readonly string[], options?: RequestOptions): AsyncIterable<ZipMember>
  /** Replaces the declared limits until the next call; the new limits survive a restart. */
  setLimits (limits: Pick<Limits, 'concurrency' | 'rates'>): void
  /** Records the remaining allowance that the service reports. */
  setAllowance (allowance: Allowance): void
}

/** A file of a zip that {@link HttpClient.unzip} downloads. */
export interface ZipMember {
  readonly name: string
  /** Unpacked size in bytes. */
  readonly size: number
  readonly chunks: AsyncIterable<Uint8Array>
}

/** A store of JSON values that survives restarts, separate for every plugin. */
export interface Cache {
  /** Returns the value, or undefined if it is missing or has expired. */
  get (key: string): Promise<unknown>
  /** @param ttlMs lifetime of the value in milliseconds; without it the value stays until the plugin deletes it */
  set (key: string, value: unknown, ttlMs?: number): Promise<void>
  /** Deletes the value, if there is one. */
  delete (key: string): Promise<void>
}

/** A file or folder in a listing of {@link Files}. */
export interface FileEntry {
  readonly name: string
  readonly kind: 'file' | 'folder'
  /** Bytes. */
  readonly size: number
  /** Last modification time in milliseconds since 1970-01-01 UTC. */
  readonly mtime: number
}

/**
 * A read-only view of a folder, such as the library. Paths are relative to the folder, with forward slashes; files
 * outside are unreachable.
 */
export interface Files {
  /**
   * Returns the text of a file, or undefined if the file does not exist.
   *
   * @throws Error when the file is larger than `maxBytes` (default 64 MiB).
   */
  readText (path: string, maxBytes?: number): Promise<string | undefined>
  /** Yields the bytes of a file in chunks; nothing if the file does not exist. */
  stream (path: string): AsyncIterable<Uint8Array>
  /** Returns the entries of a folder in name order; an empty list if the folder does not exist. */
  list (path: string): Promise<readonly FileEntry[]>
  /** True for a file and for a folder. */
  exists (path: string): Promise<boolean>
}
