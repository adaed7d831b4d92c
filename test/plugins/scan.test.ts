import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type TestApp, buildTestApp } from '../support.ts'

/** Starts a scan and waits for its end. */
async function scan ({ app, admin }: TestApp, payload: object = {}) {
  const started = await app.inject({ method: 'POST', url: '/api/tasks/scan', headers: admin, payload })
  if (started.statusCode !== 202) throw new Error(`scan refused: ${started.body}`)
  const url = `/api/tasks/${started.json().task_id}`
  for (;;) {
    const status = (await app.inject({ url, headers: admin })).json()
    if (!['queued', 'started'].includes(status.status)) return status
    await sleep(20)
  }
}

t.test('a first scan stores the platforms, ROMs and hashes it finds', async (t) => {
  const test = await buildTestApp(t, {
    worker: true,
    library: { roms: { snes: { 'Chrono Harbor (USA).sfc': 'content', 'Salt & Sail (Europe) (Rev 1).sfc': 'other' }, psx: { Disc: { 'a.bin': 'a', 'a.cue': 'b' } } } }
  })
  const status = await scan(test)
  t.equal(status.status, 'finished', JSON.stringify(status))
  t.match(status.meta.scan_stats, { total_platforms: 2, new_platforms: 2, total_roms: 3, scanned_roms: 3, new_roms: 3 })
})
