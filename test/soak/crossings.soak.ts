import { join } from 'node:path'
import t from 'tap'

/** Tests of concurrent requests and random sequences, of which `npm test` runs few rounds. */
const FILES = [
  'sync/crossing.soak.ts', 'permissions/default.test.ts', 'deletion/deletion.soak.ts', 'assets/history.test.ts',
  'assets/history.soak.ts', 'webdav/histories.soak.ts'
]
const env = { ...process.env, SOAK_ROUNDS: process.env.SOAK_ROUNDS ?? '40' }

// Each file empties the tables of its own process.
for (const file of FILES) {
  const path = join(import.meta.dirname, '..', 'plugins', file)
  await t.spawn(process.execPath, [...process.execArgv, path], { env }, file)
}
