import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createHostId } from '../../core/process/host.ts'
import { forwardForeignSessions } from '../../core/sockets/forward-sessions.ts'
import { buildWorker } from '../plugins/tasks/workers-support.ts'
import { freePort } from '../free-port.ts'
import { buildTestApp } from '../support.ts'
import { endpoint } from './socket-framing-support.ts'

t.test('hosts whose workers have equal numbers and process ids keep their sessions apart', async (t) => {
  const test = await buildTestApp(t)
  const start = async (address: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-framing-'))
    t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
    const host = { id: createHostId(), address: `${address}:${await freePort()}` }
    const config = { ...test.config, cluster: { internal_address: host.address } }
    const app = await buildWorker({ ...test, config }, 0, host.id)
    t.teardown(() => app.close())
    await forwardForeignSessions(app, { folder, host, workerNumber: 0 })
    await app.listen({ port: 0, host: address })
    return { app, host, url: `http://${address}:${(app.server.address() as AddressInfo).port}` }
  }
  const [first, second] = [await start('127.0.0.2'), await start('127.0.0.3')]
  for (const [here, there] of [[first, second], [second, first]] as const) {
    const hello = await (await fetch(`${here.url}${endpoint}`)).text()
    const { sid } = JSON.parse(hello.slice(1)) as { sid: string }
    t.match(sid, `${here.host.id}-0-${process.pid.toString(36)}-0-`)
    t.equal((await fetch(`${there.url}${endpoint}&sid=${sid}`, { method: 'POST', body: '40' })).status, 200)
    t.match(await (await fetch(`${there.url}${endpoint}&sid=${sid}`)).text(), /^40\{"sid"/)
  }
  const hello = await (await fetch(`${second.url}${endpoint}`)).text()
  const { sid } = JSON.parse(hello.slice(1)) as { sid: string }
  await second.app.close()
  const answer = await fetch(`${first.url}${endpoint}&sid=${sid}`)
  t.equal(answer.status, 400)
  t.same(await answer.json(), { code: 1, message: 'Session ID unknown' }, 'a host that ended')
})
