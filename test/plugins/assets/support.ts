import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestApp } from '../../support.ts'

export interface AssetItem {
  id: number
  rom_id: number | null
  file_name: string
  full_path: string
  file_size_bytes: number
  sha1: string
  download_path: string
  content_hash: string | null
  slot: string | null
  emulator: string | null
  is_public: boolean
  conflict_of: number | null
  updated_at: string
  missing_from_fs: boolean
  screenshot: AssetItem | null
  origin_device_id: string | null
  content_device_id: string | null
  device_syncs: { device_id: string, is_current: boolean, is_untracked: boolean, last_synced_at: string }[]
}
export interface VersionItem {
  id: number
  sha1: string
  content_hash: string | null
  content_device_id: string | null
  created_at: string
}
export type Headers = Record<string, string>

export interface Part {
  name: string
  content: string | Buffer
  /** Without a file name the part is a field. */
  fileName?: string
}

const BOUNDARY = 'the-boundary-of-the-parts'

/** Returns a multipart body with file names exactly as given. */
export function createForm (parts: readonly Part[]): { payload: Buffer, headers: Headers } {
  const chunks = parts.flatMap(({ name, content, fileName }) => [
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${fileName === undefined
      ? '\r\n'
      : `; filename="${fileName}"\r\nContent-Type: application/octet-stream\r\n`}\r\n`),
    Buffer.from(content), Buffer.from('\r\n')
  ])
  return {
    payload: Buffer.concat([...chunks, Buffer.from(`--${BOUNDARY}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  }
}

export const sha1Of = (content: string | Buffer) => createHash('sha1').update(content).digest('hex')
export const md5Of = (content: string | Buffer) => createHash('md5').update(content).digest('hex')

export type Query = Record<string, string | number | boolean | undefined>
const search = (query: Query) =>
  new URLSearchParams(Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]])).toString()

/** The smallest valid picture. */
export const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64')

export function createClient ({ app }: TestApp, headers: Headers) {
  const call = (method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object, more: Headers = {}) =>
    app.inject({ method, url, headers: { ...headers, ...more }, ...(payload === undefined ? {} : { payload }) })

  return {
    call,
    /** Sends a form. */
    send (method: 'POST' | 'PUT', path: string, query: Query, parts: readonly Part[], more: Headers = {}) {
      const form = createForm(parts)
      return app.inject({
        method, url: `${path}?${search(query)}`, headers: { ...headers, ...form.headers, ...more }, payload: form.payload
      })
    },
    /** Uploads a save; throws unless the upload succeeds. */
    async save (
      query: Query, fileName: string, content: string | Buffer, more: readonly Part[] = []
    ): Promise<AssetItem> {
      const reply = await this.send('POST', '/api/saves', query, [{ name: 'saveFile', fileName, content }, ...more])
      if (reply.statusCode !== 200) throw new Error(`${reply.statusCode} ${reply.body}`)
      return reply.json<AssetItem>()
    },
    async state (query: Query, fileName: string, content: string | Buffer): Promise<AssetItem> {
      const reply = await this.send('POST', '/api/states', query, [{ name: 'stateFile', fileName, content }])
      if (reply.statusCode !== 200) throw new Error(`${reply.statusCode} ${reply.body}`)
      return reply.json<AssetItem>()
    },
    async get<T = AssetItem>(url: string): Promise<T> {
      const reply = await call('GET', url)
      if (reply.statusCode !== 200) throw new Error(`${url}: ${reply.statusCode} ${reply.body}`)
      return reply.json<T>()
    },
    /** Returns content as text; null if there is none. */
    async content (url: string): Promise<string | null> {
      const reply = await call('GET', url)
      return reply.statusCode === 200 ? reply.body : null
    },
    versions (id: number, kind = 'saves'): Promise<VersionItem[]> { return this.get<VersionItem[]>(`/api/${kind}/${id}/versions`) }
  }
}

/** Returns the folder of a user, below the assets folder. */
export async function folderOf ({ app }: TestApp, username: string): Promise<string> {
  const { rows: [user] } = await app.pg.query<{ folder: string }>('select folder from users where username = $1', [username])
  if (user === undefined) throw new Error(`There is no user ${username}`)
  return `users/${user.folder}`
}

/** Lists all files below the assets folder. */
export async function listStored ({ config }: TestApp): Promise<string[]> {
  const base = join(config.data_dir, 'assets')
  const entries = await readdir(base, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(base.length + 1)).sort()
}

/** Adds a device of a user. @returns its row id and its UUID */
export async function addDevice (
  { app }: TestApp, username: string, name: string
): Promise<{ id: number, device_id: string }> {
  const { rows: [device] } = await app.pg.query<{ id: number, device_id: string }>(
    'insert into devices (user_id, name) select id, $2 from users where username = $1 returning id, device_id', [username, name])
  if (device === undefined) throw new Error(`There is no user ${username}`)
  return device
}
