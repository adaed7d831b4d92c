import type {
  Cache, Files, HttpClient, LinkMatch, Logger, Match, Preferences, ProviderContext, ZipMember
} from '@svc/plugin-sdk'
import { createMask } from '../../http/mask.ts'
import { type GivenAnswer, toResponse } from '../../http/response.ts'
import { createMaskedLog } from '../masked-log.ts'
import type { Peer } from './peer.ts'

/** The parts of a context that are sent with a call. */
export interface CallFacts {
  /** The number of the memo that calls of one scan share. */
  memo: number
  config: unknown
  preferences: Preferences
  options: unknown
  found: ReadonlyMap<string, Match | LinkMatch>
  /** The names of the configured folders outside the library. */
  folders: readonly string[]
}

interface Call {
  /** The number under which the host stores the real context. */
  scope: number
  signal: AbortSignal
  memo: ProviderContext['memo']
  facts: CallFacts
}

/** Opens the iterable when it is first read, as the host's own do. */
async function * readLazily<Item> (open: () => Promise<unknown>): AsyncGenerator<Item> {
  yield * await open() as AsyncIterable<Item>
}

/** Creates the context of one call in the plugin's process; the real context is in the host. */
export function createRemoteContext (peer: Peer, { scope, signal, memo, facts }: Call): ProviderContext {
  const { config, preferences, options, found } = facts
  const ask = (method: string, ...args: unknown[]) => peer.call(method, args, { scope })
  const tell = (method: string, ...args: unknown[]) => { peer.tell(method, args, scope) }
  const mask = createMask(Object.values(config ?? {}).filter((value) => typeof value === 'string'))
  const http: HttpClient = {
    request: async (url, settings) =>
      toResponse(await ask('http.request', url, settings) as GivenAnswer, () => 'The service', mask),
    json: (url, settings) => ask('http.json', url, settings),
    text: async (url, settings) => await ask('http.text', url, settings) as string,
    stream: (url, settings) => readLazily<Uint8Array>(() => ask('http.stream', url, settings)),
    unzip: (url, members, settings) => readLazily<ZipMember>(() => ask('http.unzip', url, members, settings)),
    setLimits: (limits) => { tell('http.setLimits', limits) },
    setAllowance: (allowance) => { tell('http.setAllowance', allowance) }
  }
  const say = (level: keyof Logger) => (fields: object, message: string) => { tell('log', level, fields, message) }
  // Copied first, because a message must not hold an object that names itself.
  const log = createMaskedLog({ debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }, [])
  const cache: Cache = {
    get: (key) => ask('cache.get', key),
    set: async (key, value, ttlMs) => { await ask('cache.set', key, value, ttlMs) },
    delete: async (key) => { await ask('cache.delete', key) }
  }
  /** @param folder null for the library */
  const filesOf = (folder: string | null): Files => ({
    readText: async (path, maxBytes) => await ask('files.readText', folder, path, maxBytes) as string | undefined,
    stream: (path) => readLazily<Uint8Array>(() => ask('files.stream', folder, path)),
    list: async (path) => await ask('files.list', folder, path) as Awaited<ReturnType<Files['list']>>,
    exists: async (path) => await ask('files.exists', folder, path) as boolean
  })
  return {
    config,
    preferences,
    options,
    found,
    signal,
    memo,
    http,
    log,
    cache,
    files: filesOf(null),
    folders: Object.fromEntries(facts.folders.map((folder) => [folder, filesOf(folder)])),
    index: {
      getMany: async (keys) => await ask('index.getMany', keys) as ReadonlyMap<string, readonly unknown[]>,
      builtAt: async () => await ask('index.builtAt') as number | undefined
    },
    report: (progress) => { tell('report', progress) },
    explain: (step) => { tell('explain', step) }
  }
}
