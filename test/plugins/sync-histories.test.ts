import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { buildTestApp } from '../support.ts'
import { History, histories } from './sync-histories.ts'

/** More of them run with `npm run soak`, where the server is also killed. */
const RUNS = 8

const { app, admin } = await buildTestApp(t, { env: { ASSET_VERSIONS_KEPT: '1000' } })
await app.listen({ port: 0, host: '127.0.0.1' })
const host = {
  url: () => `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
  authorization: admin.authorization
}
const { rows: [platform] } = await app.pg.query<{ id: number }>(
  "insert into platforms (slug, fs_slug, name) values ('snes', 'snes', 'SNES') returning id")
let count = 0

/** A ROM that no other history has touched. */
async function addRom (): Promise<number> {
  const { rows: [rom] } = await app.pg.query<{ id: number }>(`insert into roms
    (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext) values ($1, $2, 'roms/snes', 'Game', 'Game') returning id`,
  [platform?.id, `Game ${count++}.sfc`])
  return rom?.id ?? 0
}

t.test('whatever two devices and their user do, no content is lost and both devices end up alike', async (t) => {
  await fc.assert(fc.asyncProperty(histories({ kills: false }), async (steps) => {
    await new History(host, await addRom()).check(steps)
  }), { numRuns: RUNS })
  t.pass('all histories')
})
