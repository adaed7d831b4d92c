import { join } from 'node:path'
import { resetScripts } from '../fixtures/script.ts'
import { until } from '../../until.ts'
import { buildScanTest } from '../scans/support.ts'
import type { Test } from 'tap'

export interface Row { id: string, status: string, payload: { type: string, platform_fs_slugs: string[] } }

/** Changes within this delay belong together, also on a busy machine. */
export const DELAY_MS = 2_500
export const slugsOf = ({ payload }: Row) => payload.platform_fs_slugs

export async function startWatcher (t: Test) {
  const test = await buildScanTest(t, {
    providers: ['beta'],
    env: { ENABLE_RESCAN_ON_FILESYSTEM_CHANGE: 'true', RESCAN_ON_FILESYSTEM_CHANGE_DELAY: String(DELAY_MS / 60_000) }
  })
  const { app, worker, admin, put, sql, libraryDir, roms, rom, start, finished } = test
  const at = (path: string) => join(libraryDir, 'roms', path)

  t.beforeEach(resetScripts)

  const scans = () => sql<Row>(`select id, status, payload from tasks where type = 'scan' and task_key is null
    order by created_at`)
  const waiting = (status = 'scheduled') => sql<Row>(
    "select id, status, payload from tasks where task_key = 'filesystem_watcher' and status = $1 order by created_at", [status])

  /** Changes the library and returns its scans once no further one is waiting. */
  async function afterChange (work: () => Promise<unknown>): Promise<Row[]> {
    const before = (await scans()).length
    await work()
    await until(async () => (await waiting()).length === 0 && (await scans()).length > before &&
      (await scans()).every(({ status }) => status === 'finished'), 'the changes are scanned')
    return (await scans()).slice(before)
  }
  return { test, app, worker, admin, put, sql, roms, rom, start, finished, at, scans, waiting, afterChange }
}
