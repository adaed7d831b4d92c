import type { ServerResponse } from 'node:http'
import { mock } from 'node:test'
import type { Rom } from '@svc/plugin-sdk'
import t from 'tap'
import { inspectInProcess } from '../../core/loader/inspection/inspect-in-process.ts'
import { startServer } from '../core/http/server.ts'
import { until } from '../until.ts'
import { createMemoryServices } from './memory-services.ts'
import { load } from './process-support.ts'
import { APART, install, makeTrouble, scopeOf, startTroublemaker } from './troublemaker.ts'

const troublemaker = await startTroublemaker(t)

t.test('a hanging plugin is killed after a call\'s timeout, and restarts', async (t) => {
  const { tell, untilBack, changes } = troublemaker
  await t.rejects(tell('hang', scopeOf(AbortSignal.timeout(100))), { name: 'TimeoutError' })
  await until(() => typeof changes.at(-1) === 'string', 'it is ended')
  t.match(changes.at(-1), /it did not answer for 5 s/)
  await untilBack()
  t.equal(await tell('answer here'), 'here')
})

t.test('a plugin that hangs between two calls is killed, and restarts', async (t) => {
  const { tell, untilBack, changes } = await startTroublemaker(t, undefined, 2_000)
  t.equal(await tell('code setImmediate(() => { for (;;); }); return "done"'), 'done')
  await until(() => changes.length > 0, 'it is ended')
  t.match(changes[0], /it did not answer for 2 s/)
  await untilBack()
  t.equal(await tell('answer here'), 'here')
})

t.test('a plugin that ends soon after each start stays failed with its last reason', async (t) => {
  const { dataDir, packages } = install(t, ['ends-after-setup'], APART)
  const registry = await load(t, dataDir, packages)
  const states: string[] = []
  registry.onChange(() => { states.push(registry.records.map(({ status, reason }) => `${status}: ${reason ?? ''}`).join()) })
  const findFirst = (times: number) => states.findIndex((state) => state.includes(`${times} times in a row`))
  await until(() => findFirst(4) !== -1, 'the fourth end')
  const later = states.slice(findFirst(2))
  t.equal(later.length, 3)
  for (const state of later) t.match(state, /^failed: A plugin may not call fetch.*use ctx\.http, \d times in a row/)
})

t.test('the server and other plugins work on while a plugin crashes and hangs', async (t) => {
  await makeTrouble(t, 5, 1)
})

t.test('a plugin that uses too much memory is killed', async (t) => {
  const { tell, untilBack } = troublemaker
  await t.rejects(tell('grow'), { message: /more than 512 MiB of memory/ })
  if (process.platform !== 'linux') return
  await untilBack()
  await t.rejects(tell('grow-at-once'), { message: /more than 512 MiB of memory/ }, 'also without a pause')
})

t.test('crashes and hangs during loading and set-up affect no other plugin', async (t) => {
  const fixtures = ['crashes-in-import', 'crashes-in-setup', 'hangs-in-import', 'hangs-in-setup', 'troublemaker']
  const { dataDir, packages } = install(t, fixtures, APART)
  const registry = await load(t, dataDir, packages)
  const reasons = [/it throws while loading: .* it ended with code 3/, /its setup throws.* it ended with code 3/,
    /loading it does not end within 8 s/, /its setup does not end within 8 s/]
  for (const [place, reason] of reasons.entries()) t.match(registry.records[place], { status: 'failed', reason })
  const provider = registry.providers.get('troublemaker')
  t.equal(provider?.limits.concurrency, 'hunter2-hunter2'.length, 'its limits are those for its configuration')
  t.equal(registry.providers.size, 1)
  const match = await provider?.definition.identify?.({ fs_name: 'answer well' } as Rom, provider.context(scopeOf()) as never)
  t.match(match, { id: 'well' })
})

t.test('a broken package has the same error in its own process', async (t) => {
  const fixtures = ['no-default-export', 'wrong-kind', 'plain-schema', 'throws-in-setup', 'hangs-on-import',
    'throws-on-import', 'throws-a-string', 'missing-dependency', 'moved-import', 'good-channel', 'good-exporter']
  const { dataDir, packages } = install(t, fixtures)
  const { records, channels, exporters } = await load(t, dataDir, packages)
  const reasons = [/default export is not the result of defineProvider/, /package\.json says channel, its code is a provider/,
    /config\.url is not a schema made with Type/, /^its setup throws: no index at \/index\?key=\*+$/,
    /^loading it does not end within 8 s$/, /^it throws while loading: cannot start on this day of the week$/,
    /^it throws while loading: a plain text$/, /own dependency 'a-package-nobody-installed' is missing/,
    /import it from '@svc\/plugin-sdk\/titles'$/]
  for (const [place, reason] of reasons.entries()) t.match(records[place], { status: 'failed', reason })
  t.same([...channels.keys(), ...exporters.keys()], ['good-channel', 'good-exporter'])
})

t.test('an inspection refuses a provider with a field of the server', async (t) => {
  const { dataDir, packages } = install(t, ['taken-field'])
  const { records } = await inspectInProcess({ runsPlugins: true, packages, settings: { SVC_DATA_DIR: dataDir } })
  t.match(records, [{ status: 'failed', reason: /its key 'platform' gives it the field 'platform_id'/ }])
})

t.test('an inspection waits as long as its processes may take to start', async (t) => {
  const { dataDir, packages } = install(t, ['good-provider', 'good-channel', 'good-exporter'])
  const inspect = () => inspectInProcess({ runsPlugins: true, packages, settings: { SVC_DATA_DIR: dataDir } })
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => { mock.timers.reset() })
  const looking = inspect()
  mock.timers.tick(90_000 - 1)
  t.same((await looking).records.map(({ status }) => status), ['active', 'active', 'active'])
  const late = t.rejects(inspect(), { message: /took longer than 90 s; try again/ })
  mock.timers.tick(90_000)
  await late
})

t.test('at most 32 requests and 256 MiB of responses of one plugin run at once', async (t) => {
  const held: ServerResponse[] = []
  const { url } = await startServer(t, (_request, response) => { held.push(response) })
  const { tell } = await startTroublemaker(t, (dataDir) => createMemoryServices({ password: 'x' }, dataDir, [url]))

  /** Asks for many responses; returns how many arrive at once, in each batch until all are answered. */
  async function countAtOnce (count: number, batch: number, request: string): Promise<number[]> {
    const counts: number[] = []
    const answer = tell(`code return (await Promise.all(Array.from({ length: ${count} }, async (_, n) => {
      ${request.replace('URL', `'${url}/' + n`)}
    }))).length + ''`)
    for (let left = count; left > 0; left -= batch) {
      await until(async () => held.length >= Math.min(batch, left), 'the next requests')
      // What the plugin sends now is served after all requests that it has sent before.
      await tell('cache kept')
      counts.push(held.length)
      for (const response of held.splice(0)) response.end('1')
    }
    t.equal(await answer, String(count))
    return counts
  }

  t.same(await countAtOnce(40, 16, 'return await ctx.http.text(URL)'), [16, 16, 8])
  t.same(await countAtOnce(40, 32, 'return await ctx.http.json(URL, { maxBytes: 1000 })'), [32, 8])
  t.same(await countAtOnce(10, 4, 'return await ctx.http.request(URL, { maxBytes: 1e9 })'), [4, 4, 2])
  t.same(await countAtOnce(20, 8, 'for await (const _ of ctx.http.stream(URL)) {}'), [8, 8, 4])
})
