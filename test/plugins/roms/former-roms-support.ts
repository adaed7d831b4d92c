import { join } from 'node:path'
import { createClient } from '../assets/support.ts'
import { resetScripts } from '../fixtures/script.ts'
import { buildScanTest } from '../scans/support.ts'
import type { Test } from 'tap'

export async function startFormerRoms (t: Test) {
  const test = await buildScanTest(t, { providers: ['alpha'] })
  const { app, admin, put, scan, rom, roms, libraryDir, sql, finished } = test
  const alice = await test.createUser('alice')
  const [user] = await sql<{ id: number }>("select id from users where username = 'alice'")
  const userId = user?.id ?? 0

  t.beforeEach(resetScripts)

  const at = (path: string) => join(libraryDir, 'roms', path)
  const asAdmin = async (method: 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
    const reply = await app.inject({ method, url, headers: admin, ...(payload === undefined ? {} : { payload }) })
    if (reply.statusCode >= 300) throw new Error(`${method} ${url}: ${reply.body}`)
    return reply
  }
  const hide = (entity: 'roms' | 'platforms', id: number) =>
    asAdmin('POST', '/api/permissions/hidden', { entity, entity_id: id, user_id: userId })
  const status = async (id: number) => (await app.inject({ url: `/api/roms/${id}`, headers: alice })).statusCode

  /** Scans a folder, then runs the clean-up of missing files. */
  async function cleanUp (folder: string): Promise<void> {
    await scan({ platform_fs_slugs: [folder] })
    const reply = await asAdmin('POST', '/api/tasks/run/cleanup_missing_roms', {})
    await finished(reply.json<{ task_id: string }>().task_id)
  }
  const assets = createClient(test, alice)
  return { app, admin, put, scan, rom, roms, libraryDir, sql, alice, assets, at, asAdmin, hide, status, cleanUp }
}
