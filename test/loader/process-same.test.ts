import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as sdk from '@svc/plugin-sdk'
import type { ProviderContext, ProviderDefinition } from '@svc/plugin-sdk'
import { createRom } from '@svc/plugin-sdk/testing'
import fastify, { type FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loadConfig } from '../../core/config/config.ts'
import database from '../../core/database/database.ts'
import { callProvider } from '../../core/loader/call-provider.ts'
import type { CallScope } from '../../core/loader/call-scope.ts'
import { readPreferences } from '../../core/loader/context.ts'
import { loadPlugins } from '../../core/loader/loader.ts'
import { createMemo } from '../../core/loader/memo.ts'
import { createPluginServices } from '../../core/loader/services.ts'
import { readRequest, startServer } from '../core/http/server.ts'
import { makeZip } from '../plugins/hashing/fixtures.ts'
import { createTestDatabase } from '../support.ts'
import { APART, install } from './troublemaker.ts'

const TOKEN = 'hunter2-hunter2'

/** The service that the fixture asks. */
async function startService (t: Test) {
  const zip = await makeZip([
    { name: 'a.txt', bytes: Buffer.from('text of a') }, { name: 'b.txt', bytes: Buffer.alloc(200_000, 'b') }
  ])
  return await startServer(t, async (request, response) => {
    const [path] = (request.url ?? '').split('?')
    if (path === '/missing') response.statusCode = 404
    if (path === '/json') response.setHeader('content-type', 'application/json')
    const { 'content-type': type, 'x-own': own } = request.headers
    if (path === '/json') response.end(JSON.stringify([request.url, own]))
    else if (path === '/echo') response.end(JSON.stringify([type, await readRequest(request)]))
    else if (path === '/zip') response.end(zip)
    else response.end(path === '/long' ? 'x'.repeat(300_000) : 'no JSON at all')
  })
}

/** The fixture, in the test's own process or in one of its own, with what a server hands to it. */
async function startWhole (t: Test, origin: 'built-in' | 'community', url: string) {
  const { dataDir, packages } = install(t, ['whole'], APART)
  const libraryDir = join(dataDir, 'library')
  const place = join(dataDir, 'place')
  for (const folder of [libraryDir, place]) {
    mkdirSync(join(folder, 'a'), { recursive: true })
    writeFileSync(join(folder, 'a', 'b.txt'), `text in ${folder === place ? 'its folder' : 'the library'}`)
  }
  writeFileSync(join(dataDir, 'outside.txt'), 'nobody reads this')
  writeFileSync(join(dataDir, 'config.yml'), JSON.stringify({ plugins: { whole: { url, token: TOKEN, place } } }))
  const { config } = loadConfig({
    SVC_DATA_DIR: dataDir, SVC_LIBRARY_DIR: libraryDir, SVC_AUTH_SECRET_KEY: 'a key for tests only'
  })
  const lines: unknown[] = []
  const logger: FastifyBaseLogger = pino({ base: null, timestamp: false }, {
    write (line) { if (line.includes('"plugin"')) lines.push(JSON.parse(line)) }
  })
  const app = fastify({ loggerInstance: logger })
  t.teardown(() => app.close())
  await app.register(database, { url: await createTestDatabase(t), poolSize: 2, entities: [], migrations: [] })
  const registry = await loadPlugins(app, {
    config, works: true, packages: packages.map((pack) => ({ ...pack, origin })),
    createServices: await createPluginServices(app, config)
  })
  await app.ready()
  t.match(registry.records, [{ status: 'active', reason: null }])
  const loaded = registry.providers.get('whole')
  if (loaded === undefined) throw new Error('The fixture is not active')
  const scopeOf = (more: Partial<CallScope> = {}): CallScope => ({
    signal: new AbortController().signal, memo: createMemo(), preferences: readPreferences(config), ...more
  })
  return { app, loaded, lines, scopeOf, dataDir }
}
type Whole = Awaited<ReturnType<typeof startWhole>>

/** All that a caller may see of an error. */
function describe (err: unknown): unknown {
  const { name, message, ...rest } = err as Error & Record<string, unknown>
  const known = Object.entries(sdk).find(([key]) => key === (err as Error).constructor.name)?.[0]
  return { name, message, known, ...rest }
}

type Work = (definition: Required<ProviderDefinition>, ctx: never) => Promise<unknown>

/** What each method answers or throws, with what happened meanwhile. */
async function useWhole ({ app, loaded, lines, scopeOf, dataDir }: Whole) {
  const progress: unknown[] = []
  const ask = (work: Work, more?: Partial<CallScope>) =>
    callProvider(loaded, scopeOf(more), (definition, ctx) => work(definition as Required<ProviderDefinition>, ctx))
      .then((value) => ({ value }), (err: unknown) => ({ thrown: describe(err) }))
  const rom = createRom({ fs_name: 'Chrono Harbor (USA).sfc', sha1_hash: 'a'.repeat(40) })
  const found = new Map([['hasheous', { id: 7, name: 'Chrono Harbor' }]])
  const failures: Record<string, unknown> = {}
  for (const how of ['credentials', 'limited', 'down', 'status', 'settings', 'refused', 'bug', 'coded', 'wait']) {
    await app.pg.query(`insert into plugin_cache (plugin, key, value) values ('provider/whole', 'fail', $1)
      on conflict (plugin, key) do update set value = excluded.value`, [JSON.stringify(how)])
    const stop = new AbortController()
    const answer = ask(({ heartbeat }, ctx) => heartbeat(ctx), { signal: stop.signal })
    if (how === 'wait') stop.abort(new Error('the scan was cancelled'))
    failures[how] = await answer
  }
  const media = { kind: 'cover', url: 'https://a.example/cover.png' } as const
  const file = { content_type: 'image/png', size: 9, sha1_hash: 'b'.repeat(40) }
  const answers = {
    rebuilt: await loaded.rebuildIndex?.(scopeOf({ report: (told) => { progress.push(told) } })),
    identified: await ask(({ identify }, ctx) => identify(rom, ctx), { found, options: { whole_deep: true, x: 1 } }),
    byDefault: await ask((_definition, { options, found }: ProviderContext) => Promise.resolve([options, found.size])),
    got: await ask(({ getById }, ctx) => getById(3, rom, ctx)),
    gotAlone: await ask(({ getById }, ctx) => getById(3, undefined, ctx)),
    unknown: await ask(({ getById }, ctx) => getById(0, undefined, ctx)),
    searched: await ask(({ search }, ctx) => search({ term: 'harbor', platform: rom.platform }, ctx)),
    covers: await ask(({ searchCovers }, ctx) => searchCovers('harbor', ctx)),
    suggested: await ask(({ suggest }, ctx) => suggest(rom, { igdb: 4 }, ctx)),
    fetched: await ask(({ fetchMedia }, ctx) => fetchMedia(media, ctx)),
    accepted: await ask(({ acceptMedia }, ctx) => acceptMedia(media, { ...file, pixels: new Uint8Array([1, 9]) }, ctx)),
    refused: await ask(({ acceptMedia }, ctx) => acceptMedia(media, file, ctx)),
    progress: await ask(({ readProgress }, ctx) => readProgress({ whole_username: 'tess' }, [{ id: 1 }] as never, ctx)),
    first: await ask(({ readProgress }, ctx) => readProgress({ whole_username: 'tess' }, undefined, ctx)),
    nobody: await ask(({ readProgress }, ctx) => readProgress({ whole_username: 'nobody' }, undefined, ctx))
  }
  const { rows: cached } = await app.pg.query("select value from plugin_cache where key in ('suggested', 'mine') order by key")
  const seen = {
    answers, failures, progress, cached, lines,
    limits: loaded.limits,
    learnt: [loaded.learnt.pace(), loaded.learnt.allowances()],
    // Without its functions, which are other ones.
    definition: JSON.stringify(loaded.definition)
  }
  return JSON.parse(JSON.stringify(seen).replaceAll(dataDir, '<data>')) as typeof seen
}

t.test('a provider answers, throws, asks and is told the same in a process of its own as in the server', async (t) => {
  const { url } = await startService(t)
  const here = await useWhole(await startWhole(t, 'built-in', url))
  const apart = await useWhole(await startWhole(t, 'community', url))
  t.strictSame(apart, here)

  const { answers: { rebuilt, identified, nobody }, failures, limits, learnt, lines } = here
  t.equal(rebuilt, 4)
  t.match(identified, {
    value: {
      metadata: {
        seen: {
          kept: [true, { a: [1, null] }, null],
          isShared: true,
          files: { text: 'text in the library', streamed: 'text in the library' },
          folders: [['place'], { text: 'text in its folder' }],
          service: { notDeclared: /other\.example/, streamed: 300_000, members: [['a.txt', 9], ['b.txt', 200_000]] },
          options: { whole_deep: true }
        }
      }
    }
  })
  t.match(nobody, { thrown: { known: 'InvalidSettingsError', message: 'no such user' } })
  t.match(failures.credentials, { thrown: { known: 'CredentialsRefusedError', message: /^the key is not \*+$/ } })
  t.match(failures.wait, { thrown: { message: 'the scan was cancelled' } })
  t.equal(limits.concurrency, TOKEN.length)
  t.match(learnt, [{ concurrency: 2 }, [{ name: 'day', remaining: 5 }]])
  t.equal(lines.length, 1)
})
