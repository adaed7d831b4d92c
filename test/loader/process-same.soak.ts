import type {
  ChannelDefinition, OutgoingNotification, PluginKind, ProviderContext, ProviderDefinition, ProviderMedia
} from '@svc/plugin-sdk'
import { createExportGame, createNotification, createRom } from '@svc/plugin-sdk/testing'
import t, { type Test } from 'tap'
import { callProvider } from '../../core/loader/calls/call-provider.ts'
import type { CallScope } from '../../core/loader/calls/call-scope.ts'
import { METHODS } from '../../core/loader/descriptor.ts'
import { TOKEN, type Whole, outcomeOf, startService, startWhole } from './whole.ts'

/** Methods that the loader itself calls. */
const CALLED_BY_LOADER = ['index.build', 'limits', 'missing', 'setup', 'close']
const called = new Set(CALLED_BY_LOADER)

/** The traces of a plugin: its log lines and its stored values. */
interface Traces { lines: unknown[], kept: unknown }

/** Runs the same work with a fixture in the server and in a separate process. @returns the result, equal in both */
async function compare<Seen> (
  t: Test, kind: PluginKind, settings: Readonly<Record<string, unknown>>, use: (whole: Whole) => Promise<Seen>
): Promise<Seen & Traces> {
  async function see (origin: 'built-in' | 'community') {
    const whole = await startWhole(t, kind, origin, settings)
    t.match(whole.registry.records, [{ status: 'active', reason: null }])
    const seen = await use(whole)
    for (const method of whole.called) called.add(method)
    const { lines } = whole
    return JSON.parse(JSON.stringify({ ...seen, lines, kept: await whole.close() })
      .replaceAll(whole.dataDir, '<data>')) as Seen & Traces
  }
  const here = await see('built-in')
  t.strictSame(await see('community'), here)
  return here
}
/** A definition that has every method. */
type WholeProvider = Required<ProviderDefinition> & { media: Required<ProviderMedia> }
type Work = (definition: WholeProvider, ctx: never) => Promise<unknown>

/** Returns the result or error of each method, with the progress and lines meanwhile. */
async function useProvider ({ app, registry, scopeOf }: Whole) {
  const loaded = registry.providers.get('whole')
  if (loaded === undefined) throw new Error('The fixture is not active')
  const progress: unknown[] = []
  const ask = (work: Work, more?: Partial<CallScope>) =>
    outcomeOf(callProvider(loaded, scopeOf(more), (definition, ctx) =>
      work(definition as WholeProvider, ctx)))
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
    fetched: await ask(({ media: { fetch } }, ctx) => fetch(media, ctx)),
    accepted: await ask(({ media: { accept } }, ctx) =>
      accept(media, { ...file, pixels: new Uint8Array([1, 9]) }, ctx)),
    refused: await ask(({ media: { accept } }, ctx) => accept(media, file, ctx)),
    progress: await ask(({ progress: { read } }, ctx) => read({ whole_username: 'tess' }, [{ id: 1 }] as never, ctx)),
    first: await ask(({ progress: { read } }, ctx) => read({ whole_username: 'tess' }, undefined, ctx)),
    nobody: await ask(({ progress: { read } }, ctx) => read({ whole_username: 'nobody' }, undefined, ctx))
  }
  const { rows: cached } = await app.pg.query("select value from plugin_cache where key in ('suggested', 'mine') order by key")
  return {
    answers, failures, progress, cached,
    limits: loaded.limits,
    learnt: [loaded.reportedLimits.rateLimit(), loaded.reportedLimits.allowances()],
    // Without its functions, because they differ.
    definition: JSON.stringify(loaded.definition)
  }
}

t.test('a provider behaves the same in its own process as in the server', async (t) => {
  const { url } = await startService(t)
  const { answers: { rebuilt, identified, nobody }, failures, limits, learnt, lines } =
    await compare(t, 'provider', { url, token: TOKEN }, useProvider)
  t.equal(rebuilt, 4)
  t.match(identified, {
    value: {
      metadata: {
        seen: {
          kept: [true, { a: [1, null] }, null],
          isShared: true,
          files: { text: 'text in the library', streamed: 'text in the library' },
          folders: [['place'], { text: 'text in its folder' }],
          service: { notDeclared: /other\.example/, streamed: 300_000, members: [['a.txt', 9, 'text of a'], ['b.txt', 200_000, /^b+$/]] },
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

const CHANNEL_FAILURES = ['credentials', 'limited', 'down', 'settings', 'refused', 'bug', 'coded', 'missing', 'elsewhere']

/** Returns the result of each method through the host of channels, for an administrator and for another user. */
const useChannel = (url: string) => async ({ app, host, registry }: Whole) => {
  const definition = registry.channels.get('whole')?.definition as Required<ChannelDefinition> | undefined
  if (definition === undefined) throw new Error('The fixture is not active')
  const settings = {
    address: url, room: 4, password: 'open sesame', service: 'harbor', fields: { topic: 'ships', secret_key: 'abcdef' }
  }
  const subjectOf = (isAdmin: boolean, more: object = {}) =>
    ({ type: 'whole', settings: { ...settings, ...more }, secret_keys: ['secret_key'], is_admin: isAdmin })
  const notification = createNotification({ title: 'Scan completed at last', body: 'Twelve ROMs were added to the library.' })
  const { signal } = new AbortController()
  async function answersFor (isAdmin: boolean) {
    const subject = subjectOf(isAdmin)
    const deliver = (one: OutgoingNotification) => outcomeOf(host.deliver(subject, one, signal))
    const failures: Record<string, unknown> = {}
    for (const kind of CHANNEL_FAILURES) failures[kind] = await deliver({ ...notification, kind })
    const stop = new AbortController()
    const waiting = outcomeOf(host.deliver(subject, { ...notification, kind: 'wait' }, stop.signal))
    stop.abort(new Error('the server stops'))
    return {
      failures,
      stopped: await waiting,
      delivered: await deliver(notification),
      inspected: await outcomeOf(host.inspect(subject, signal)),
      refused: await outcomeOf(host.inspect(subjectOf(isAdmin, { room: 13 }), signal)),
      nowhere: await outcomeOf(host.inspect(subjectOf(isAdmin, { address: 'nowhere' }), signal)),
      confirmed: await outcomeOf(host.confirm(subject, '123456', signal)),
      wrongCode: await outcomeOf(host.confirm(subject, '000000', signal)),
      services: await outcomeOf(host.services(subject, signal)),
      parsed: await outcomeOf(Promise.all(['whole:7', 'other:7', 'bad:7'].map((text) => host.parse(subject, text, signal))))
    }
  }
  return {
    admin: await answersFor(true),
    nobody: await answersFor(false),
    byHeart: await outcomeOf(Promise.all(['whole:9', 'other:9'].map(async (text) => await definition.parse(text)))),
    cached: (await app.pg.query('select key, value from plugin_cache order by key')).rows,
    definition: JSON.stringify(definition)
  }
}

t.test('a channel behaves the same in its own process as in the server', async (t) => {
  const { url } = await startService(t)
  const { admin, byHeart, cached, lines, kept } = await compare(t, 'channel', { url, token: TOKEN }, useChannel(url))
  const { failures, ...answers } = admin
  t.match(answers, {
    stopped: { thrown: { message: 'the server stops' } },
    delivered: { value: { ok: true } },
    inspected: {
      value: {
        ok: true,
        value: {
          destination: `${url}#4`,
          view: {
            target: '127.0.0.1, room 4', has_secret: true, service: 'harbor', service_name: /^Harbor of /,
            fields: { topic: 'ships' }, stored_secrets: ['secret_key']
          }
        }
      }
    },
    refused: { value: { ok: false, failure: { message: 'no such room', is_invalid: true } } },
    nowhere: { value: { ok: true, value: { view: { target: '' } } } },
    wrongCode: { value: { ok: false, failure: { retry_after_ms: 1_500 } } },
    services: { value: { ok: true, value: [{ id: 'harbor' }, 'no service'] } },
    parsed: { value: [{ ok: true, value: { address: url, room: 7 } }, { ok: true, value: null }, { ok: false }] }
  })
  t.match(failures, {
    credentials: { value: { failure: { message: /^the key is not \*+$/, is_refused: true } } },
    limited: { value: { failure: { retry_after_ms: 1_500, is_refused: false } } },
    settings: { value: { failure: { is_invalid: true } } },
    elsewhere: { value: { failure: { is_refused: true } } }
  })
  t.match(byHeart, { value: [{ room: 9 }, null] })
  t.match(cached, [{ key: 'checked', value: 4 }, { key: 'confirmed' }, { key: 'delivered' }, { key: 'set-up', value: true }])
  t.match(kept, { 1: { key: 'closed', value: true } })
  t.match(lines, [{ msg: 'delivered', room: 4 }, { msg: 'delivered', room: 4 }], 'for both callers')
})

/** Returns the text written for games and an existing file, or the error. */
async function useExporter ({ registry, scopeOf }: Whole) {
  const loaded = registry.exporters.get('whole')
  if (loaded === undefined) throw new Error('The fixture is not active')
  const { definition } = loaded
  const games = [createExportGame(), createExportGame({ rom_id: 2, name: 'Ünï <& "quoted">', summary: null, average_rating: null })]
  const platform = { slug: 'snes', fs_slug: 'SNES', name: 'Super Nintendo' }
  const render = (existing: string | null, { signal } = new AbortController()) => outcomeOf(
    definition.render(platform, games, existing, loaded.context(scopeOf({ signal })) as never))
  const stop = new AbortController()
  const waiting = render('wait', stop)
  stop.abort(new Error('the server stops'))
  return {
    fresh: await render(null),
    again: await render('a file that is there'),
    unreadable: await render('unreadable'),
    wrong: await render('wrong'),
    stopped: await waiting,
    definition: JSON.stringify(definition)
  }
}

t.test('an exporter behaves the same in its own process as in the server', async (t) => {
  const { fresh, unreadable, stopped, lines, kept } = await compare(t, 'exporter', { title: 'Spiele' }, useExporter)
  const { value } = fresh as { value: { text: string, skipped: unknown } }
  t.match(JSON.parse(value.text), {
    platform: { slug: 'snes', name: 'Super Nintendo' }, games: [{ rom_id: 1 }, { name: 'Ünï <& "quoted">' }], existing: null,
    config: { title: 'Spiele' }, isShared: true, isSetUp: true, file: 'text in the library', listed: [['b.txt', 'file']]
  })
  t.same(value.skipped, [{ rom_id: 2, reason: 'one is enough' }])
  t.match(unreadable, { thrown: { name: 'SyntaxError', message: 'line 3 is no game' } })
  t.match(stopped, { thrown: { message: 'the server stops' } })
  t.equal(lines.length, 2)
  t.match(kept, [{ key: 'closed', value: true }, { key: 'set-up', value: true }])
})

t.test('the comparison covers every function of the contract', async (t) => {
  t.same([...called].sort(), Object.keys(METHODS).sort())
})

t.test('a plugin with a missing setting is disabled, wherever it runs', async (t) => {
  const settings = { channel: { url: 'http://a.example', token: TOKEN, is_ready: false }, exporter: { is_ready: false } } as const
  for (const origin of ['built-in', 'community'] as const) {
    const { registry: { records: [channel] } } = await startWhole(t, 'channel', origin, settings.channel)
    t.match(channel, { status: 'disabled', reason: 'set WHOLE_IS_READY' }, origin)
    const { registry: { records: [exporter] } } = await startWhole(t, 'exporter', origin, settings.exporter)
    t.match(exporter, { status: 'disabled', reason: 'set scan.whole.is_ready' }, origin)
  }
})
