import { type Test } from 'tap'
import type { TrackMeta } from '../../../plugins/roms/entities.ts'
import { type TestApp, shareTestApp } from '../../support.ts'
import { addRom } from '../roms/support.ts'

export interface Track { rom_file_id: number, title: string | null, stream_url: string }
export interface Page<T> { items: T[], total: number, limit: number, offset: number }
export interface Playlist { id: number, name: string, updated_at: string }
export type Tags = Partial<TrackMeta>

export const NO_TAGS: TrackMeta = {
  title: null, artist: null, album: null, genre: null, year: null, track: null, disc: null, duration_seconds: null,
  has_embedded_cover: false, cover_path: null
}

/** Adds a ROM with music. Each file has the given tags, or none if its tags could not be read. */
export async function addMusic (
  test: TestApp, name: string, files: Record<string, Tags | null>, options: { platform?: string, fields?: object } = {}
) {
  const rom = await addRom(test, { fs_name: name, files: [`${name}.gb`, ...Object.keys(files).map((file) => `soundtrack/${file}`)], ...options })
  const ids: number[] = []
  for (const [file, tags] of Object.entries(files)) {
    const { rows: [row] } = await test.app.pg.query<{ id: number }>(`update rom_files set category = 'soundtrack', track_meta = $3::jsonb,
      tags_of = last_modified where rom_id = $1 and file_name = $2 returning id`,
    [rom, file, tags === null ? null : JSON.stringify({ ...NO_TAGS, ...tags })])
    ids.push(row?.id ?? 0)
  }
  return { rom, ids }
}

/** Returns a client for the routes of one user. */
export function callerOf ({ app }: TestApp, headers: { authorization: string }) {
  async function ask (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, payload?: object) {
    return await app.inject({ method, url: `/api/music/${path}`, headers, ...(payload === undefined ? {} : { payload }) })
  }
  async function get<T> (path: string): Promise<T> {
    const reply = await ask('GET', path)
    if (reply.statusCode !== 200) throw new Error(`${path}: ${reply.statusCode} ${reply.body}`)
    return reply.json<T>()
  }
  return {
    ask,
    get,
    titles: async (path: string) => (await get<Page<Track>>(path)).items.map(({ title }) => title),
    ids: async (path: string) => (await get<Page<Track>>(path)).items.map(({ rom_file_id: id }) => id),
    values: async (path: string) => (await get<Page<{ value: string | number, count: number }>>(path)).items.map(({ value, count }) => `${value} ${count}`),
    send: (method: 'POST' | 'PUT' | 'DELETE', path: string, ids: readonly number[]) => ask(method, path, { rom_file_ids: ids }),
    async make (name: string, fields: object = {}): Promise<Playlist> {
      const reply = await ask('POST', 'playlists', { name, ...fields })
      if (reply.statusCode !== 200) throw new Error(reply.body)
      return reply.json()
    }
  }
}

export async function startMusic (t: Test) {
  const fresh = shareTestApp(t)

  async function start (t: Test) {
    const test = await fresh(t)
    const anna = callerOf(test, await test.createUser('anna'))
    const ben = callerOf(test, await test.createUser('ben'))
    return { test, anna, ben, admin: callerOf(test, test.admin) }
  }
  return { start }
}
