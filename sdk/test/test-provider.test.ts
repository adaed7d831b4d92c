import t from 'tap'
import {
  CredentialsRefusedError, type Match, type Provider, type ProviderDefinition, ServiceDownError, Type,
  defineProvider
} from '../src/index.ts'
import { type PlannedResponse, type ProviderSuite, testProvider } from '../src/testing/index.ts'
import { runSuite } from './support.ts'

const BASE = 'https://games.example'
const KEY = 'not-a-real-key'
const responses: PlannedResponse[] = [
  { url: `${BASE}/search`, query: { name: 'Chrono Harbor' }, json: { id: 11 } },
  { url: `${BASE}/search`, json: { id: null } },
  { url: `${BASE}/games/11`, json: { id: 11, name: 'Chrono Harbor', cover: `${BASE}/11.png` } }
]
const suite: ProviderSuite = {
  config: { apiKey: KEY }, responses, known: { rom: { fs_name: 'Chrono Harbor (USA).sfc' }, id: 11, name: 'Chrono Harbor' }
}

function field (value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

const goodProvider = defineProvider({
  key: 'demo',
  name: 'Demo',
  id: 'integer',
  config: Type.Object({
    apiKey: Type.String({ minLength: 1, env: 'DEMO_API_KEY', writeOnly: true, description: 'Key of your account' })
  }),
  metadata: Type.Object({ cover: Type.Optional(Type.String()) }),
  platforms: { snes: 2 },

  async identify (rom, { http, config }): Promise<Match<{ cover?: string }, number> | undefined> {
    const ask = async (path: string, query = {}): Promise<unknown> => {
      const response = await http.request(`${BASE}${path}`, { query, headers: { 'x-key': config.apiKey }, accept: [401] })
      if (response.status === 401) throw new CredentialsRefusedError('the key is not accepted')
      return response.json()
    }
    const id = field(await ask('/search', { name: rom.fs_name_no_tags }), 'id')
    if (!Number.isSafeInteger(id)) return undefined
    const game = await ask(`/games/${String(id)}`)
    const name = field(game, 'name')
    const cover = field(game, 'cover')
    if (typeof name !== 'string') throw new ServiceDownError('a game without a name')
    const match: Match<{ cover?: string }, number> = { id: Number(id), name, metadata: {} }
    if (typeof cover === 'string' && cover.startsWith('https://')) {
      match.media = [{ kind: 'cover', url: cover }]
      match.metadata = { cover }
    }
    return match
  }
})
const { definition: good }: Provider = goodProvider

async function identifyWell (...[rom, ctx]: Parameters<NonNullable<ProviderDefinition['identify']>>) {
  return await good.identify?.(rom, ctx) as Match | undefined
}

function failuresOf (changes: Partial<ProviderDefinition>, options: Partial<ProviderSuite> = {}) {
  const provider: Provider = defineProvider({ ...good, ...changes })
  return runSuite((runner) => testProvider(runner, provider, { ...suite, ...options }))
}

/** Returns an `identify` that changes the match of the good provider. */
function changeMatch (change: (match: Match) => unknown): Partial<ProviderDefinition> {
  return {
    async identify (rom, ctx) {
      const match = await identifyWell(rom, ctx)
      return match === undefined ? undefined : change(match) as Match
    }
  }
}

t.test('a good provider passes', async (t) => {
  const { passed, failed } = await failuresOf({})
  t.strictSame([...failed], [])
  t.ok(passed.length >= 9)
})

t.test('a good provider with every method passes', async (t) => {
  const { failed } = await failuresOf({
    tag: 'demo',
    async getById (id, _rom, { http }) {
      const game = await http.json(`${BASE}/games/${id}`)
      const name = field(game, 'name')
      return typeof name === 'string' ? { id: Number(id), name } : undefined
    },
    async search ({ term }, { http }) {
      const id = field(await http.json(`${BASE}/search`, { query: { name: term } }), 'id')
      return typeof id === 'number' && Number.isInteger(id) ? [{ id }] : []
    },
    async heartbeat ({ http }) {
      return (await http.request(`${BASE}/search`, { accept: [401, 404] })).status < 300
    },
    async searchCovers (name, { http }) {
      const cover = field(await http.json(`${BASE}/games/11`), 'cover')
      return typeof cover === 'string' && URL.canParse(cover) ? [{ name, covers: [{ url: cover, thumb: cover }] }] : []
    }
  })
  t.strictSame([...failed], [])
})

t.test('a definition that the host cannot use fails', async (t) => {
  const properties = (schema: object) => ({ config: Type.Object({ x: schema as ReturnType<typeof Type.String> }) })
  const bad: [Partial<ProviderDefinition>, RegExp][] = [
    [{ key: 'Demo' }, /the key "Demo" must fit/],
    [{ name: ' ' }, /display name/],
    [{ tag: 'demo' }, /getById is needed/],
    [{ platforms: { supernintendo: 2 } }, /"supernintendo" is not a canonical slug/],
    [{ limits: { concurrency: 0 } }, /limits\.concurrency must be a number above 0/],
    [properties(Type.Optional(Type.String())), /config\.x needs a description/],
    [properties(Type.Optional(Type.String({ description: 'x', env: 'demo_x' }))), /must be UPPER_CASE/],
    [{ config: Type.Object({ clientSecret: Type.Optional(Type.String({ description: 'x' })) }) }, /mark it writeOnly/],
    [{
      config: Type.Object({
        a: Type.Optional(Type.String({ description: 'a', env: 'DEMO_X' })),
        b: Type.Optional(Type.String({ description: 'b', env: 'DEMO_X' }))
      })
    }, /already that of another property/]
  ]
  for (const [changes, message] of bad) {
    const { failed } = await failuresOf(changes)
    t.match(failed.get('the definition can be used by the host'), message)
  }
})

t.test('an invalid match fails', async (t) => {
  const bad: [Partial<ProviderDefinition>, RegExp][] = [
    [changeMatch(() => undefined), /the known ROM was not found/],
    [changeMatch(() => null), /nothing found is undefined, not null/],
    [changeMatch((match) => ({ ...match, id: 12 })), /the id of the match/],
    [changeMatch((match) => ({ ...match, id: 'x' })), /the id "x" is not of the type integer/],
    [changeMatch((match) => ({ ...match, id: 1e300 })), /\/id must be <= 9007199254740991/],
    [changeMatch((match) => ({ ...match, first_release_date: 1e300 })), /first_release_date must be <= 8640000000000000/],
    [changeMatch((match) => ({ ...match, name: 'Another' })), /the name of the match/],
    [changeMatch((match) => ({ ...match, name: 7 })), /\/name must be string; it is 7/],
    [changeMatch((match) => ({ ...match, summery: 'x' })), /"summery" is not a field of a match/],
    [changeMatch((match) => ({ ...match, average_rating: 101 })), /average_rating must be <= 100/],
    [changeMatch((match) => ({ ...match, first_release_date: new Date(0) })), /must stay the same when it becomes JSON/],
    [changeMatch((match) => ({ ...match, metadata: { cover: 7 } })), /metadata does not fit its schema/],
    [changeMatch((match) => ({ ...match, ids: { igdb: 4 } })), /links must have "igdb"/],
    [changeMatch((match) => ({ ...match, media: [{ kind: 'cover', url: '//games.example/11.png' }] })), /absolute https/],
    [changeMatch((match) => ({ ...match, media: [{ kind: 'cover', url: 'file:///etc/passwd' }] })), /stays in the library/],
    [changeMatch((match) => ({ ...match, media: [{ kind: 'cover', url: `${BASE}/?key=${KEY}` }] })), /shows a writeOnly value/]
  ]
  for (const [changes, message] of bad) {
    const { failed } = await failuresOf(changes)
    t.match(failed.get('a known ROM returns a match that fits the schemas'), message)
  }
})

t.test('a match with undefined fields and ids passes', async (t) => {
  const { failed } = await failuresOf({
    order: { links: ['igdb', 'ra'] }, ...changeMatch((match) => ({ ...match, summary: undefined, ids: { igdb: undefined, ra: 7 } }))
  })
  t.strictSame([...failed], [])
})

t.test('a match of kind ids needs ids and has no id of its own', async (t) => {
  const failureOf = async (match: object) => {
    const { failed } = await failuresOf({ kind: 'ids', id: undefined, order: { links: ['igdb'] }, ...changeMatch(() => match) }, { known: { rom: suite.known.rom } })
    return failed.get('a known ROM returns a match that fits the schemas')
  }
  t.equal(await failureOf({ ids: { igdb: undefined } }), undefined)
  t.match(await failureOf({ score: 1 }), /needs 'ids'/)
  t.match(await failureOf({ id: 1, ids: { igdb: 2 } }), /has no id of its own/)
})

t.test('a provider that throws or guesses for an unknown ROM fails', async (t) => {
  const name = 'an unknown ROM returns undefined'
  const identify = (otherwise: () => Match): Partial<ProviderDefinition> => ({
    identify: async (rom, ctx) => await identifyWell(rom, ctx) ?? otherwise()
  })
  t.match((await failuresOf(identify(() => ({ id: 1 })))).failed.get(name), /Zyzzogeton.* must not be found/)
  t.match((await failuresOf(identify(() => { throw new Error('not found') }))).failed.get(name), /identify threw Error: not found/)
})

t.test('an unplanned request fails, even when it is swallowed', async (t) => {
  const { failed } = await failuresOf({
    async identify (rom, ctx) {
      await ctx.http.json(`${BASE}/telemetry`).catch(() => null)
      return identifyWell(rom, ctx)
    }
  })
  t.match(failed.get('a known ROM returns a match that fits the schemas'), /No response is planned for GET .*\/telemetry/)
})

t.test('a provider that answers after an abort, or hides its reason, fails', async (t) => {
  const name = 'identify ends with the reason of an aborted signal'
  const swallow = await failuresOf({ identify: (rom, ctx) => identifyWell(rom, ctx).catch(() => undefined) })
  t.match(swallow.failed.get(name), /was aborted before it began and still gave undefined/)
  const wrap = await failuresOf({
    identify: async (rom, ctx) => {
      try {
        return await identifyWell(rom, ctx)
      } catch (err) {
        throw new ServiceDownError('demo', { cause: err })
      }
    }
  })
  t.match(wrap.failed.get(name), /must reject with the signal's reason, not ServiceDownError: demo/)
})

t.test('a provider that crashes in an outage fails', async (t) => {
  const name = 'identify reports an outage as an outage'
  const trusting = await failuresOf({
    async identify (rom, { http }) {
      const found = await http.json(`${BASE}/search`, { query: { name: rom.fs_name_no_tags } }) as { id: number | null }
      if (found.id === null) return undefined
      const game = await http.json(`${BASE}/games/${found.id}`) as { name: string }
      return { id: 11, name: game.name.trim() }
    }
  })
  t.match(trusting.failed.get(name), /answered with JSON null from request 1 on, must throw one of .* threw TypeError/)
  t.match(trusting.failed.get('identify rejects values of the wrong type'), /answered with name = null, .* TypeError/)

  const inventing = await failuresOf({
    identify: (rom, ctx) => identifyWell(rom, ctx).catch((err: unknown) => {
      ctx.signal.throwIfAborted()
      if (err instanceof Error) return { id: 1, name: rom.fs_name }
      throw err
    })
  })
  t.match(inventing.failed.get(name), /status 500 from request 1 on, must find nothing or throw, not give \{"id":1/)

  const telling = await failuresOf({
    identify: (rom, ctx) => identifyWell(rom, ctx).catch((err: unknown) => {
      if (!(err instanceof ServiceDownError)) throw err
      throw new ServiceDownError(`${err.message} for ${KEY}`, { cause: err })
    })
  })
  t.match(telling.failed.get(name), /an error message shows a writeOnly value/)
})

t.test('a provider that does not report a refused key fails', async (t) => {
  const name = 'identify reports a refused key'
  type Arguments = Parameters<NonNullable<ProviderDefinition['identify']>>
  const readId = async (...[rom, { http, config }]: Arguments) =>
    field(await http.json(`${BASE}/search`, {
      query: { name: rom.fs_name_no_tags }, headers: { 'x-key': String(field(config, 'apiKey')) }
    }), 'id')
  const passing = await failuresOf({
    async identify (rom, ctx) {
      const id = await readId(rom, ctx)
      return Number.isSafeInteger(id) ? { id: Number(id), name: 'Chrono Harbor' } : undefined
    }
  })
  t.match(passing.failed.get(name), /refused with status 401, threw HttpStatusError.* throw CredentialsRefusedError/)
  const hiding = await failuresOf({
    identify: (rom, ctx) => identifyWell(rom, ctx).catch((err: unknown) => {
      if (err instanceof CredentialsRefusedError) return undefined
      throw err
    })
  })
  t.match(hiding.failed.get(name), /refused with status 401, gave undefined/)
})

t.test('a provider that passes on a value of the wrong type fails', async (t) => {
  const { failed } = await failuresOf(changeMatch((match) => match))
  t.strictSame([...failed], [])
  const careless = await failuresOf({
    async identify (rom, ctx) {
      const match = await identifyWell(rom, ctx)
      if (match === undefined) return undefined
      const game = await ctx.http.json(`${BASE}/games/11`) as { cover: string }
      return { ...match, metadata: { cover: game.cover } }
    }
  })
  t.match(careless.failed.get('identify rejects values of the wrong type'), /cover = null, gave a result that is not allowed/)
})

t.test('a provider that crashes on a missing field fails', async (t) => {
  const { failed } = await failuresOf({
    async identify (rom, ctx) {
      const match = await identifyWell(rom, ctx)
      const game = match && await ctx.http.json(`${BASE}/games/11`)
      if (game !== undefined && !Object.hasOwn(Object(game), 'cover')) throw new TypeError('no cover')
      return match
    }
  })
  t.match(failed.get('identify rejects values of the wrong type'), /every second field removed, .* TypeError: no cover/)
})

t.test('a provider that mixes up concurrent calls fails', async (t) => {
  let last: Match | undefined
  const { failed } = await failuresOf({
    async identify (rom, ctx) {
      last = undefined
      const match = await identifyWell(rom, ctx)
      last = match ?? last
      await ctx.http.json(`${BASE}/search`)
      await ctx.http.json(`${BASE}/search`)
      return last
    }
  })
  t.ok(failed.has('two concurrent ROMs do not affect each other'))
})

t.test('a provider that bypasses its context fails', async (t) => {
  const name = 'the provider uses nothing but its context'
  const environment = await failuresOf({
    identify: async (rom, ctx) => process.env.DEMO_API_KEY === 'x' ? undefined : identifyWell(rom, ctx)
  })
  t.match(environment.failed.get(name), /process\.env\.DEMO_API_KEY/)
  const network = await failuresOf({
    async identify (rom, ctx) {
      await fetch('data:text/plain,x').catch(() => null)
      return identifyWell(rom, ctx)
    }
  })
  t.match(network.failed.get(name), /fetch\(\)/)
  t.type(process.env.PATH, 'string')
})

t.test('a provider that changes its ROM argument fails', async (t) => {
  const { failed } = await failuresOf({
    async identify (rom, ctx) {
      Object.assign(rom, { fs_name: 'x' })
      return identifyWell(rom, ctx)
    }
  })
  t.match(failed.get('a known ROM returns a match that fits the schemas'), /read only property/)
})

t.test('a provider that crashes on damaged files fails', async (t) => {
  const files = { 'roms/snes/games.json': '{"Chrono Harbor":11}' }
  const reads = (parse: (text: string) => unknown): Partial<ProviderDefinition> => ({
    async identify (rom, { files: library }) {
      const text = await library.readText('roms/snes/games.json')
      const id = field(parse(text ?? '{}'), rom.fs_name_no_tags)
      return typeof id === 'number' ? { id, name: rom.fs_name_no_tags } : undefined
    }
  })
  const careless = await failuresOf(reads((text) => JSON.parse(text)), { files })
  t.match(careless.failed.get('damaged files do not crash the provider'), /threw SyntaxError/)
  const careful = await failuresOf(reads((text) => {
    try {
      return JSON.parse(text)
    } catch {
      return {}
    }
  }), { files })
  t.strictSame([...careful.failed], [])
})

t.test('prepare runs before each call on its fresh context', async (t) => {
  const { failed } = await failuresOf({
    async identify (rom, { cache }) {
      const id = field(await cache.get('ids'), rom.fs_name_no_tags)
      return typeof id === 'number' ? { id, name: rom.fs_name_no_tags } : undefined
    }
  }, {
    prepare: async (ctx) => { await ctx.cache.set('ids', { 'Chrono Harbor': 11 }) }
  })
  t.strictSame([...failed], [])
})
