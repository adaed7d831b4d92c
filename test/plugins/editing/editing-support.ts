import { join } from 'node:path'
import sharp from 'sharp'
import type { LightMyRequestResponse } from 'fastify'
import { startServer } from '../../core/http/server.ts'
import { resetVault } from '../fixtures/vault.ts'
import { buildScanTest } from '../scans/support.ts'
import type { Test } from 'tap'

export const picture = (background: string) =>
  sharp({ create: { width: 30, height: 40, channels: 3, background } }).png().toBuffer()
export const [RED, BLUE] = await Promise.all([picture('#ff0000'), picture('#0000ff')])
export const PDF = Buffer.from('%PDF-1.7\nsmall\n%%EOF\n')
export const FILES: Record<string, [type: string, content: Buffer]> = {
  '/red.png': ['image/png', RED], '/blue.png': ['image/png', BLUE], '/manual.pdf': ['application/pdf', PDF],
  '/page.png': ['text/html', Buffer.from('<html>')]
}
export let count = 0

export interface Detail {
  id: number
  name: string
  name_sort_key: string
  summary: string | null
  fs_name: string
  fs_extension: string
  full_path: string
  regions: string[]
  tags: string[]
  url_cover: string
  path_cover_large: string
  path_cover_small: string
  path_manual: string
  vault_id: number | null
  shelf_id: string | null
  manual_metadata: object
  metadatum: { genres: string[] }
  files: { file_name: string, full_path: string }[]
}

export async function startEditing (t: Test) {
  const server = await startServer(t, (request, response) => {
    const [type, content] = FILES[(request.url ?? '').split('?')[0] ?? ''] ?? []
    if (content === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': type }).end(content)
  })

  const test = await buildScanTest(t, {
    providers: ['shelf', 'vault', 'digest'],
    config: { scan: { media: ['manual'] }, plugins: { vault: { base_url: server.url } } }
  })
  const { app, admin, put, scan, rom, sql, libraryDir, dataDir } = test

  t.beforeEach(() => { resetVault() })

  /** Creates a ROM for each test, on its own platform. */
  async function addRom (fsName = 'Chrono (Japan).gb', files: Record<string, string> = { '': `tale ${count}` }) {
    const folder = `platform ${count++}`
    await put(Object.fromEntries(Object.entries(files).map(([path, content]) => [`roms/${folder}/${fsName}${path}`, content])))
    await scan({ platform_fs_slugs: [folder] })
    const { id } = await rom(folder, fsName)
    return { id, folder, path: (name: string) => join(libraryDir, 'roms', folder, name) }
  }

  const get = async (id: number): Promise<Detail> => (await app.inject({ url: `/api/roms/${id}`, headers: admin })).json()

  async function edit (id: number, fields: Record<string, string>, query = ''): Promise<LightMyRequestResponse> {
    return await app.inject({
      method: 'PUT',
      url: `/api/roms/${id}${query}`,
      headers: { ...admin, 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(fields).toString()
    })
  }
  return { server, app, admin, put, scan, sql, dataDir, addRom, get, edit }
}
