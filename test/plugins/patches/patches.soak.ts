import { ENCODERS } from './support.ts'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { createForm } from '../assets/support.ts'
import { buildTestApp, shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { LIBRARY, fill, patch, sent, BASE } from './patches-support.ts'

const fresh = shareTestApp(t)

t.test('patches of one user run in sequence across web workers, others in parallel', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const ids = await fill(test)
  const bob = await test.createUser('bob')
  const { databaseUrl, libraryDir } = test
  const other = await buildTestApp(t, { databaseUrl, env: { SVC_LIBRARY_DIR: libraryDir }, withoutAdmin: true })
  const address = await test.app.listen({ port: 0, host: '127.0.0.1' })
  const form = createForm([sent()])
  const send = () => request(`${address}/api/roms/${ids['Game (USA).sfc']}/patch`, {
    method: 'POST', headers: { ...test.admin, ...form.headers, 'content-length': String(form.payload.length) }
  })
  const slow = send()
  t.teardown(() => slow.destroy())
  slow.write(form.payload.subarray(0, -20))
  await until(() => existsSync(join(test.config.data_dir, 'patching')), 'it has begun')
  let isAnswered = false
  const next = [test, other].map((web) =>
    patch(web, ids['Game (USA).sfc'], [sent()], test.admin).finally(() => { isAnswered = true }))
  for (let time = 0; time < 5; time++) {
    for (const web of [test, other]) t.equal((await patch(web, ids['Game (USA).sfc'], [sent()], bob)).statusCode, 200)
  }
  t.notOk(isAnswered, 'no web worker answers while the first one is still on its way')
  slow.end(form.payload.subarray(-20))
  const [answer] = await once(slow, 'response') as [IncomingMessage]
  answer.resume()
  t.equal(answer.statusCode, 200)
  t.same((await Promise.all(next)).map((reply) => reply.statusCode), [200, 200])
})

t.test('a file, a patch or a result beyond the limit is refused', async (t) => {
  const test = await buildTestApp(t, { library: LIBRARY, env: { ROM_PATCHER_MAX_FILE_SIZE_BYTES: '30' } })
  const ids = await fill(test)
  const small = ENCODERS.ips?.(BASE, Buffer.concat([BASE, Buffer.alloc(20)])) ?? Buffer.alloc(0)
  for (const content of [Buffer.concat([Buffer.from('PATCH'), Buffer.alloc(40)]), small]) {
    const reply = await patch(test, ids['Game (USA).sfc'], [sent(content, 'x.ips')])
    t.equal(reply.statusCode, 400)
    t.match(reply.json<{ detail: string }>().detail, /ROM_PATCHER_MAX_FILE_SIZE_BYTES/)
  }
})
