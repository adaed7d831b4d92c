import { type Dirent, createReadStream } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cache, FileEntry, Files, Logger, Match, Preferences, ProviderContext } from '@svc/plugin-sdk'
import type { Db } from '../database/db.ts'
import type { Config } from '../config/config.ts'
import type { OutgoingClient } from '../http/client.ts'
import { isNotFoundError } from '../files/fs-error.ts'
import { type WithinFolder, isInside, resolveInside } from '../files/safe-path.ts'
import type { CallScope } from './calls/call-scope.ts'
import type { HostIndex } from './search-index/plugin-index.ts'
import type { ReportedLimits } from './plugin-limits.ts'

const TEXT_MAX_BYTES = 64 * 1024 * 1024

/** Creates the cache of one plugin, its rows of the table `plugin_cache`. */
export function createCache (db: Db, plugin: string): Cache {
  return {
    async get (key) {
      const { rows } = await db.query<{ value: unknown }>(
        'select value from plugin_cache where plugin = $1 and key = $2 and (expires_at is null or expires_at > now())',
        [plugin, key])
      return rows[0]?.value
    },
    async set (key, value, ttlMs) {
      await db.query(`insert into plugin_cache (plugin, key, value, expires_at)
        values ($1, $2, $3::jsonb, now() + $4 * interval '1 millisecond')
        on conflict (plugin, key) do update set value = excluded.value, expires_at = excluded.expires_at`,
      [plugin, key, JSON.stringify(value ?? null), ttlMs ?? null])
    },
    async delete (key) {
      await db.query('delete from plugin_cache where plugin = $1 and key = $2', [plugin, key])
    }
  }
}

/** Deletes expired entries. */
export async function dropExpiredCache (db: Db): Promise<void> {
  await db.query('delete from plugin_cache where expires_at <= now()')
}

async function readBounded (path: string, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let total = 0
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    total += chunk.length
    if (total > maxBytes) throw new Error(`The file is larger than ${maxBytes} bytes and is not read`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** A file or folder with its real path, and the real path of the folder that links in it must not leave. */
interface FoundFile { real: string, root: string, isFolder: boolean }

/**
 * Creates read-only access for plugins to a folder such as the library, and to nothing outside.
 *
 * @param within chooses the folder that links must not leave; `rootDir` by default
 */
export function createFiles (rootDir: string, within: WithinFolder = (path, work) => work(rootDir, path)): Files {
  /** Returns null if nothing exists at a path. */
  async function find (path: string): Promise<FoundFile | null> {
    const { real, root } = await within(path, async (base, inner) =>
      ({ real: await resolveInside(base, inner), root: await realpath(base) }))
    try {
      return { real, root, isFolder: (await stat(real)).isDirectory() }
    } catch (err) {
      if (isNotFoundError(err)) return null
      throw err
    }
  }
  async function toEntry (folder: string, found: Dirent, root: string): Promise<FileEntry[]> {
    const { name } = found
    const path = join(folder, name)
    try {
      if (found.isSymbolicLink() && !isInside(root, await realpath(path))) return []
      const facts = await stat(path)
      const mtime = Math.trunc(facts.mtimeMs)
      if (facts.isDirectory()) return [{ name, kind: 'folder', size: 0, mtime }]
      return facts.isFile() ? [{ name, kind: 'file', size: facts.size, mtime }] : []
    } catch {
      // The entry vanished since the folder was listed, or is a broken link.
      return []
    }
  }
  return {
    async readText (path, maxBytes = TEXT_MAX_BYTES) {
      const found = await find(path)
      return found === null || found.isFolder ? undefined : await readBounded(found.real, maxBytes)
    },
    async * stream (path) {
      const found = await find(path)
      if (found !== null && !found.isFolder) yield * createReadStream(found.real) as AsyncIterable<Buffer>
    },
    async list (path) {
      const found = await find(path)
      if (found === null || !found.isFolder) return []
      const entries = (await readdir(found.real, { withFileTypes: true })).sort((a, b) => a.name < b.name ? -1 : 1)
      return (await Promise.all(entries.map((entry) => toEntry(found.real, entry, found.root)))).flat()
    },
    exists: async (path) => await find(path) !== null
  }
}

export function readPreferences (config: Config): Preferences {
  return { regions: config.scan.priority.region, languages: config.scan.priority.language, media: config.scan.media }
}

/** The services of a plugin, which live as long as the process. */
export interface PluginServices {
  config: unknown
  http: OutgoingClient
  log: Logger
  cache: Cache
  files: Files
  folders: Readonly<Record<string, Files>>
  index: HostIndex
  reportedLimits: ReportedLimits
}

const NO_MATCHES: ReadonlyMap<string, Match> = new Map()

export function createContext (services: PluginServices, scope: CallScope): ProviderContext {
  const { throwsRateLimits = false, pauseClock, signal, memo, preferences } = scope
  const { options = {}, found = NO_MATCHES, report = () => {}, explain = () => {}, files = services.files } = scope
  const http = services.http.withSignal(signal, { throwsRateLimits, onWait: pauseClock })
  const { reportedLimits: _learnt, ...shared } = services
  return { ...shared, files, http, signal, memo, preferences, options, found, report, explain }
}
