import { join } from 'node:path'
import { buildScanTest } from '../scans/support.ts'
import type { Test } from 'tap'

let count = 0

export interface Trashed { id: number, kind: string, rom_id: number, full_path: string }

export async function startDeletion (t: Test) {
  const test = await buildScanTest(t, { providers: [] })
  const { app, admin, createUser, libraryDir, dataDir, put, rom, roms, scan, sql } = test

  /** Adds a platform with these files, and scans it. */
  async function addPlatform (files: Record<string, string>) {
    const folder = `platform ${count++}`
    await put(Object.fromEntries(Object.entries(files).map(([path, content]) => [`roms/${folder}/${path}`, content])))
    await scan({ platform_fs_slugs: [folder] })
    return { folder, path: (...names: string[]) => join(libraryDir, 'roms', folder, ...names), id: async (name: string) => (await rom(folder, name)).id }
  }
  const call = (method: 'POST' | 'PUT' | 'DELETE' | 'GET', path: string, payload?: object, headers: Record<string, string> = admin) =>
    app.inject({ method, url: path, headers, ...(payload === undefined ? {} : { payload }) })
  const deleteRoms = async (payload: object) => {
    const answer = await call('POST', '/api/roms/delete', payload)
    if (answer.statusCode !== 200) throw new Error(answer.body)
    return answer.json<{ successful_items: number, failed_ids: number[], errors: string[] }>()
  }
  async function runTask (name: string, payload?: object) {
    const { task_id: id } = (await call('POST', `/api/tasks/run/${name}`, payload)).json<{ task_id: string }>()
    return await test.finished(id)
  }
  const listTrash = async (headers = admin) => (await call('GET', '/api/trash', undefined, headers)).json<{ items: Trashed[], total: number }>()
  const restore = async (...items: number[]) => {
    const answer = await call('POST', '/api/trash/restore', { items })
    t.equal(answer.statusCode, 200, answer.body)
    return answer.json<{ successful_items: number, failed_ids: number[], errors: string[] }>()
  }
  const inTrash = async (romId: number) => (await listTrash()).items.find((item) => item.rom_id === romId)?.id ?? 0
  /** Empties the trash of earlier tests. */
  const emptyTrash = async () => { t.equal((await call('POST', '/api/trash/empty', {})).statusCode, 200) }
  const erase = (id: number) => deleteRoms({ roms: [id], delete_from_fs: [id] })
  return {
    test, app, admin, createUser, libraryDir, dataDir, put, rom, roms, scan, sql, addPlatform, call, deleteRoms,
    runTask, listTrash, restore, inTrash, emptyTrash, erase
  }
}
