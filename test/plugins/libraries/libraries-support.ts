import { mkdir, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { listPluginPackages } from '../../../core/loader/packages/packages.ts'
import type { LibraryView } from '../../../plugins/libraries/schemas.ts'
import { until } from '../../until.ts'
import { buildScanTest } from '../scans/support.ts'

export const exporters = listPluginPackages(tmpdir()).filter(({ name }) => name === '@svc/exporter-gamelist')

export interface Row { id: number, library_id: number, fs_name: string, name: string, missing_from_fs: boolean }

export async function startLibraries (t: Test) {
  const test = await buildScanTest(t, { builtIns: ['gamelist'], packages: exporters, providers: [] })
  const { app, admin, createUser, put, scan, sql, libraryDir, dataDir } = test
  const root = dirname(libraryDir)

  const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object, headers = admin) =>
    app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })
  const library = async (id: number) => (await call('GET', `/api/libraries/${id}`)).json<LibraryView>()
  const rows = (platform: string) => sql<Row>(`select r.id, r.library_id, r.fs_name, r.name, r.missing_from_fs
    from roms r join platforms p on p.id = r.platform_id where p.fs_slug = $1 order by r.library_id, r.fs_name`, [platform])

  /** Creates another library, which is deleted with all its rows when the test ends. */
  async function addDisk (t: Test, name: string, files: Record<string, string | Uint8Array>, settings: object = {}) {
    const dir = join(root, name)
    const at = (...path: string[]) => join(dir, ...path)
    async function fill (files: Record<string, string | Uint8Array>): Promise<void> {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(at(path)), { recursive: true })
        await writeFile(at(path), content)
      }
    }
    await fill(files)
    const reply = await call('POST', '/api/libraries', { name, path: dir, ...settings })
    t.equal(reply.statusCode, 201, reply.body)
    const { id } = reply.json<LibraryView>()
    t.teardown(() => call('DELETE', `/api/libraries/${id}?forget=true`))
    return { id, dir, at, fill, unmount: () => rename(dir, `${dir}-away`), mount: () => rename(`${dir}-away`, dir) }
  }

  const platformId = async (fsSlug: string) =>
    (await sql<{ id: number }>('select id from platforms where fs_slug = $1', [fsSlug]))[0]?.id ?? 0
  const found = (platform: string, name: string) =>
    until(async () => (await rows(platform)).find((rom) => rom.fs_name === name), `the ROM ${name}`)
  async function runTask (name: string, payload: object = {}) {
    const { task_id: id } = (await call('POST', `/api/tasks/run/${name}`, payload)).json<{ task_id: string }>()
    return await test.finished(id)
  }
  const upload = (path: string, headers: Record<string, string>, payload: string, method: 'POST' | 'PUT' = 'POST') => app.inject({
    method, url: `/api/roms${path}`, headers: { ...admin, 'content-type': 'application/octet-stream', ...headers }, payload
  })
  return {
    test, app, admin, createUser, put, scan, sql, libraryDir, dataDir, root, call, library, rows, addDisk, platformId,
    found, runTask, upload
  }
}
