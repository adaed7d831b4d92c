import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { buildApp } from '../../../core/app.ts'
import type { CallOutcome } from '../../../plugins/circuits/breaker.ts'
import { buildTestApp } from '../../support.ts'
import { features } from '../../../plugins/index.ts'
import { until } from '../../until.ts'

/** Starts a provider's service that counts requests and answers with this status. */
async function startSource (t: Pick<Test, 'teardown'>, status: number) {
  const seen = { count: 0 }
  const server = createServer((_request, response) => {
    seen.count++
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => { server.close() })
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Settings of plugins come from the environment of the process. */
function setEnvironment (t: Pick<Test, 'teardown'>, values: Record<string, string>): void {
  Object.assign(process.env, values)
  t.teardown(() => { for (const name of Object.keys(values)) Reflect.deleteProperty(process.env, name) })
}

t.test('the scan worker asks a provider once, however many guests request it', async (t) => {
  const { seen, url } = await startSource(t, 503)
  setEnvironment(t, { HASHEOUS_API_ENABLED: 'true', HASHEOUS_API_URL: url })
  const testApp = await buildTestApp(t, { worker: true })
  const hasheous = testApp.app.registry.records.find(({ key }) => key === 'hasheous')
  t.equal(hasheous?.status, 'active', String(hasheous?.reason))
  const ask = () => testApp.app.inject({ url: '/api/heartbeat/metadata/hasheous' })
  const replies = await Promise.all([ask(), ask(), ask()])
  t.same(replies.map((reply) => [reply.statusCode, reply.json()]), [[200, false], [200, false], [200, false]])
  const { count } = seen
  t.same((await ask()).json(), false)
  t.equal(seen.count, count, 'not asked again')
})

t.test('a provider with a refused key is off in every web worker until it is accepted', async (t) => {
  setEnvironment(t, { HASHEOUS_API_ENABLED: 'true' })
  const { app, worker, config, databaseUrl } = await buildTestApp(t, { worker: true })
  const breaker = worker?.circuits.of('hasheous')
  function end (outcome: CallOutcome): void {
    const turn = breaker?.requestCall()
    if (turn?.kind === 'call') turn.end(outcome)
  }
  const isOn = async (server: Pick<typeof app, 'inject'>) =>
    (await server.inject({ url: '/api/heartbeat' })).json().METADATA_SOURCES.HASHEOUS_API_ENABLED as boolean
  t.ok(await isOn(app))
  end({ kind: 'refused', message: 'the key is not accepted' })
  await until(async () => !await isOn(app), 'the flag to fall')
  const later = await buildApp({ config, role: 'web', workerNumber: 2, databaseUrl, logger: app.log as never, features })
  t.teardown(() => later.close())
  await later.ready()
  t.notOk(await isOn(later), 'a process that starts later knows')
  breaker?.allowProbe()
  end({ kind: 'answered' })
  await until(async () => await isOn(app) && await isOn(later), 'the flags to rise')
})
