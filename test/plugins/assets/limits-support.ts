import { buildTestApp } from '../../support.ts'
import { createClient } from './support.ts'
import type { Test } from 'tap'

export const LIMIT = 64 * 1024

export async function startLimits (t: Test) {
  const test = await buildTestApp(t, {
    worker: true,
    library: { roms: { snes: { 'Game.sfc': 'a game', 'Back.sfc': 'another game' } } },
    env: { MAX_ASSET_UPLOAD_SIZE_BYTES: String(LIMIT), ASSET_QUOTA_BYTES: String(4 * LIMIT) }
  })
  const { app } = test
  const headers = await test.createUser('alice')
  const alice = createClient(test, headers)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { test, app, headers, alice }
}
