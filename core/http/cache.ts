import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Cache, Logger } from '@svc/plugin-sdk'
import { createLruCache } from '../lru-cache.ts'

/** A cached response: everything that a caller sees. */
export interface ResponseContent {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
}

interface CachedResponse {
  readonly answer: ResponseContent
  /** Milliseconds since 1970. */
  readonly storedAt: number
}

export interface AnswerCache {
  /** Returns the cached response to an equal request if it is younger than `maxAgeMs`, or null. */
  get (key: string, maxAgeMs: number): Promise<ResponseContent | null>
  set (key: string, answer: ResponseContent, maxAgeMs: number): Promise<void>
}

export interface AnswerCacheOptions {
  log: Logger
  /** A store for responses that outlive a restart. */
  store?: Cache
  now: () => number
  /** Bytes of bodies cached in memory; default 32 MiB. */
  maxBytes?: number
}

const DEFAULT_MAX_BYTES = 32 * 1024 * 1024

/** Larger responses are cached in memory only, because the store holds JSON values. */
const STORED_MAX_BYTES = 8 * 1024 * 1024

/** The memory of an entry besides its body, so that many empty responses still count. */
const ENTRY_BYTES = 1024

export function createAnswerCache ({ log, store, now, maxBytes = DEFAULT_MAX_BYTES }: AnswerCacheOptions): AnswerCache {
  const memory = createLruCache<string, CachedResponse>({
    max: maxBytes, weightOf: ({ answer }) => answer.bytes.byteLength + ENTRY_BYTES
  })

  return {
    async get (key, maxAgeMs) {
      const pickFresh = (cached: CachedResponse | null) =>
        cached !== null && now() - cached.storedAt < maxAgeMs ? cached.answer : null
      const inMemory = pickFresh(memory.get(key) ?? null)
      if (inMemory !== null || store === undefined) return inMemory
      const stored = await readStored(store, key, log)
      if (stored !== null) memory.set(key, stored)
      return pickFresh(stored)
    },

    async set (key, answer, maxAgeMs) {
      const entry = { answer, storedAt: now() }
      memory.set(key, entry)
      if (store === undefined || answer.bytes.byteLength > STORED_MAX_BYTES) return
      try {
        await store.set(key, await toStored(entry), maxAgeMs)
      } catch (err) {
        log.warn({ err }, 'response could not be stored in the cache')
      }
    }
  }
}

async function toStored ({ answer, storedAt }: CachedResponse): Promise<object> {
  const packed = await promisify(gzip)(answer.bytes)
  return { status: answer.status, headers: answer.headers, kept_at: storedAt, gzip: packed.toString('base64') }
}

async function readStored (store: Cache, key: string, log: Logger): Promise<CachedResponse | null> {
  try {
    return await fromStored(await store.get(key))
  } catch (err) {
    log.warn({ err }, 'response could not be read from the cache')
    return null
  }
}

async function fromStored (value: unknown): Promise<CachedResponse | null> {
  if (!isStored(value)) return null
  const bytes = await promisify(gunzip)(Buffer.from(value.gzip, 'base64'), { maxOutputLength: STORED_MAX_BYTES })
  return { answer: { status: value.status, headers: value.headers, bytes }, storedAt: value.kept_at }
}

interface StoredResponse { status: number, headers: Record<string, string>, kept_at: number, gzip: string }

function isStored (value: unknown): value is StoredResponse {
  return typeof value === 'object' && value !== null &&
    'status' in value && typeof value.status === 'number' &&
    'kept_at' in value && typeof value.kept_at === 'number' &&
    'gzip' in value && typeof value.gzip === 'string' &&
    'headers' in value && typeof value.headers === 'object' && value.headers !== null &&
    Object.values(value.headers).every((header) => typeof header === 'string')
}
