import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { buildScanTest } from '../scans/support.ts'
import type { Test } from 'tap'

export const digest = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('hex')

export interface Content { name: string, bytes: Buffer, status?: string, only?: 'sha1' | 'md5' | 'crc' }

export function toRom ({ name, bytes, status, only }: Content): string {
  const hashes = { crc: crc32(bytes).toString(16).padStart(8, '0'), md5: digest('md5', bytes), sha1: digest('sha1', bytes) }
  const given = Object.entries(hashes).filter(([key]) => only === undefined || key === only).map(([key, hash]) => `${key}="${hash}"`)
  return `<rom name="${name}" size="${bytes.length}" ${given.join(' ')}${status === undefined ? '' : ` status="${status}"`}/>`
}

export const toGame = (name: string, files: readonly Content[], more = '') => `<game name="${name}"${more}>${files.map(toRom).join('')}</game>\n`
export const toDat = (name: string, games: readonly string[], version = '') =>
  `<?xml version="1.0"?>\n<datafile><header><name>${name}</name><version>${version}</version></header>\n${games.join('')}</datafile>`

/** Returns made-up content that is unique to a text. */
export const content = (text: string) => Buffer.from(`${text} `.repeat(50))
export const file = (name: string, text = name, more: Partial<Content> = {}): Content =>
  ({ name, bytes: content(text), ...more })

export interface Meta {
  loaded_count: number
  loaded: { id: number, name: string, games: number }[]
  older: { problem: string }[]
  problems: { file: string, problem: string }[]
  renamed: { fs_name: string, new_name: string }[]
  refused: { fs_name: string, new_name: string, refusal: string }[]
}

export async function startDats (t: Test) {
  const test = await buildScanTest(t, { providers: ['alpha'] })
  const { app, admin, put, scan, rom, sql, finished, libraryDir, dataDir } = test

  /** Uploads files as a form. */
  async function upload (files: Record<string, string | Uint8Array>, query = '') {
    const form = new FormData()
    for (const [name, bytes] of Object.entries(files)) form.append('files', new Blob([bytes]), name)
    const request = new Request('http://localhost', { method: 'POST', body: form })
    return await app.inject({
      method: 'POST',
      url: `/api/dats${query}`,
      headers: { ...admin, 'content-type': request.headers.get('content-type') ?? '' },
      payload: Buffer.from(await request.arrayBuffer())
    })
  }

  async function load (files: Record<string, string | Uint8Array>, query = '') {
    const answer = await upload(files, query)
    if (answer.statusCode !== 202) throw new Error(answer.body)
    const { status, meta } = await finished(answer.json<{ task_id: string }>().task_id)
    return { status, meta: meta as unknown as Meta }
  }

  /** Loads one DAT and returns its id. */
  async function loadDat (name: string, games: readonly string[], query = ''): Promise<number> {
    const { meta } = await load({ 'list.dat': toDat(name, games) }, query)
    const [dat] = meta.loaded
    if (dat === undefined) throw new Error(JSON.stringify(meta))
    return dat.id
  }

  /** Adds files to a platform's folder, and scans it. */
  async function add (folder: string, files: Record<string, Uint8Array>): Promise<void> {
    await put(Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`roms/${folder}/${name}`, bytes])))
    await scan({ platform_fs_slugs: [folder] })
  }
  return { test, app, admin, scan, rom, sql, finished, libraryDir, dataDir, upload, load, loadDat, add }
}
