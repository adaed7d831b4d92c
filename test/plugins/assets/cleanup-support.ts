import { buildTestApp } from '../../support.ts'
import { createClient, folderOf } from './support.ts'
import { addRom } from '../roms/support.ts'
import { until } from '../../until.ts'
import { type ScanTask } from '../scans/support.ts'
import type { Test } from 'tap'

export interface Stats {
  expired: number
  strays: number
  unknown: number
  unknown_files: string[]
  lost: number
  recovered: number
  postponed: string | null
}
export let count = 0

export async function startCleanup (t: Test) {
  const test = await buildTestApp(t, { worker: true, env: { ASSET_VERSIONS_KEPT: '3', ASSET_QUOTA_BYTES: '100000' } })
  const { app } = test
  const sql = async (text: string, values: unknown[] = []) => { await app.pg.query(text, values) }
  const newRom = () => addRom(test, { fs_name: `Game ${++count}.sfc` })
  const hasLooked = async () => (await app.pg.query('select from installation where looked_at is not null')).rowCount === 1
  await until(hasLooked, 'the clean-up at the start of the worker')

  /** Creates one user per test, because tests must not share quotas or files. */
  async function newUser () {
    const name = `user${++count}`
    const client = createClient(test, await test.createUser(name))
    return { ...client, folder: await folderOf(test, name), rom: await newRom() }
  }

  /** Simulates a server that started two hours ago and checked an hour ago. */
  async function passFirstHour (): Promise<void> {
    await sql("update workers set started_at = now() - interval '2 hours'")
    await sql("update installation set looked_at = now() - interval '1 hour'")
  }

  /** Runs the clean-up to its end. */
  async function run (args: object = {}): Promise<{ status: string, stats: Stats }> {
    const { task_id: id } = (await app.inject({
      method: 'POST', url: '/api/tasks/run/cleanup_assets', headers: test.admin, payload: args
    })).json<{ task_id: string }>()
    const read = async () => (await app.inject({ url: `/api/tasks/${id}`, headers: test.admin }))
      .json<Omit<ScanTask, 'meta'> & { meta: { cleanup_stats: Stats } }>()
    await until(async () => ['finished', 'failed'].includes((await read()).status), 'the clean-up ends')
    const { status, meta } = await read()
    return { status, stats: meta.cleanup_stats }
  }
  return { test, app, sql, newRom, newUser, passFirstHour, run }
}
