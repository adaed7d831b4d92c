import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { buildTestApp } from '../../support.ts'
import { addRom } from '../roms/support.ts'
import { History, type Step } from './histories.ts'

/** Starts a server without kills. @returns a function that plays a history with its own ROM and checks it */
export async function startHistoryHost (t: Test): Promise<(steps: readonly Step[]) => Promise<void>> {
  const test = await buildTestApp(t, { env: { ASSET_VERSIONS_KEPT: '1000' } })
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const host = {
    url: () => `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}`,
    authorization: test.admin.authorization
  }
  let count = 0
  return async (steps) => {
    await new History(host, await addRom(test, { fs_name: `Game ${count++}.sfc` })).check(steps)
  }
}
