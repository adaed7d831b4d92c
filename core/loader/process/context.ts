import type {
  Cache, Files, HttpClient, LinkMatch, Logger, Match, Preferences, ProviderContext, ZipMember
} from '@svc/plugin-sdk'
import { createMask } from '../../http/mask.ts'
import { type ClientResponse, toResponse } from '../../http/response.ts'
import { createMaskedLog } from '../settings/masked-log.ts'
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

interface RemoteCall {
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
export function createRemoteContext (peer: Peer, { scope, signal, memo, facts }: RemoteCall): ProviderContext {
  const { config, preferences, options, found } = facts
  const call = (method: string, ...args: unknown[]) => peer.call(method, args, { scope })
  const notify = (method: string, ...args: unknown[]) => { peer.notify(method, args, scope) }
  const mask = createMask(Object.values(config ?? {}).filter((value) => typeof value === 'string'))
  const http: HttpClient = {
    request: async (url, settings) =>
      toResponse(await call('http.request', url, settings) as ClientResponse, () => 'The service', mask),
    json: (url, settings) => call('http.json', url, settings),
    text: async (url, settings) => await call('http.text', url, settings) as string,
    stream: (url, settings) => readLazily<Uint8Array>(() => call('http.stream', url, settings)),
    unzip: (url, members, settings) => readLazily<ZipMember>(() => call('http.unzip', url, members, settings)),
    setLimits: (limits) => { notify('http.setLimits', limits) },
    setAllowance: (allowance) => { notify('http.setAllowance', allowance) }
  }
  const logAt = (level: keyof Logger) => (fields: object, message: string) => { notify('log', level, fields, message) }
  // Copied first, because a message must not hold an object that names itself.
  const log = createMaskedLog({ debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') }, [])
  const cache: Cache = {
    get: (key) => call('cache.get', key),
    set: async (key, value, ttlMs) => { await call('cache.set', key, value, ttlMs) },
    delete: async (key) => { await call('cache.delete', key) }
  }
  /** @param folder null for the library */
  const filesOf = (folder: string | null): Files => ({
    readText: async (path, maxBytes) => await call('files.readText', folder, path, maxBytes) as string | undefined,
    stream: (path) => readLazily<Uint8Array>(() => call('files.stream', folder, path)),
    list: async (path) => await call('files.list', folder, path) as Awaited<ReturnType<Files['list']>>,
    exists: async (path) => await call('files.exists', folder, path) as boolean
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
      getMany: async (keys) => await call('index.getMany', keys) as ReadonlyMap<string, readonly unknown[]>,
      builtAt: async () => await call('index.builtAt') as number | undefined
    },
    report: (progress) => { notify('report', progress) },
    explain: (step) => { notify('explain', step) }
  }
}
