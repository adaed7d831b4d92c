import { Buffer } from 'node:buffer'
import t from 'tap'
import { ZipFile } from 'yazl'
import {
  HttpStatusError, InvalidSettingsError, type LinkMatch, type Provider, ServiceDownError, Type, defineProvider
} from '../src/index.ts'
import { isFields, readText } from '../src/readers/index.ts'
import { type ProviderSuite, createPluginContext, createRom, testProvider } from '../src/testing/index.ts'
import { runSuite } from './support.ts'

const BASE = 'https://games.example'
const DEFINITION = 'the definition can be used by the host'
const MATCH = 'a known ROM returns a match that fits the schemas'
const rom = { fs_name: 'Chrono Harbor (USA).sfc' }
const base = { key: 'demo', name: 'Demo', identify: async () => undefined }
const ROM = createRom(rom)

/** Returns the error that the suite reports for a definition. */
async function problemOf (provider: Provider, options: Partial<ProviderSuite> = {}) {
  const { failed } = await runSuite((runner) => testProvider(runner, provider, { known: { rom }, ...options }))
  return failed.get(DEFINITION)
}

async function zip (members: Readonly<Record<string, string>>): Promise<Buffer> {
  const file = new ZipFile()
  for (const [name, text] of Object.entries(members)) file.addBuffer(Buffer.from(text), name)
  file.end()
  const chunks: Buffer[] = []
  for await (const chunk of file.outputStream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

t.test('slow rates are accepted, and a rate that allows nothing is refused', async (t) => {
  const withRate = (requests: number, perMs: number) =>
    problemOf(defineProvider({ ...base, id: 'integer', limits: { rates: [{ requests, perMs }] } }))
  t.equal(await withRate(1, 5000), undefined)
  t.equal(await withRate(360, 3_600_000), undefined)
  t.match(await withRate(0.5, 1000), /0\.5 requests in 1000 ms is not a valid rate/)
  t.match(await withRate(0, 1000), /not a valid rate/)
  t.match(await withRate(1, 0), /not a valid rate/)
})

t.test('limits may depend on the configuration', async (t) => {
  const create = (perMs: (plan: string) => number) => defineProvider({
    ...base,
    id: 'integer',
    config: Type.Object({ plan: Type.String({ description: 'Plan of your account' }) }),
    limits: ({ plan }) => ({ rates: [{ requests: 1, perMs: perMs(plan) }] })
  })
  const config = { plan: 'free' }
  t.equal(await problemOf(create((plan) => plan === 'free' ? 5000 : 1000), { config }), undefined)
  t.match(await problemOf(create(() => -1), { config }), /1 requests in -1 ms is not a valid rate/)
})

t.test('a platform may have one id, several, none, or a description', async (t) => {
  const withPlatform = (entry: unknown) =>
    problemOf(defineProvider({ ...base, id: 'integer', platforms: { snes: entry as number } }))
  for (const entry of [19, [19, 58], true, { ids: [19], family_name: 'Nintendo', url_logo: `${BASE}/snes.png` }]) {
    t.equal(await withPlatform(entry), undefined, JSON.stringify(entry))
  }
  t.match(await withPlatform([19, 0.5]), /contains an invalid id/)
})

t.test('a definition without a part that it needs is refused', async (t) => {
  const bad: [Provider, RegExp][] = [
    [defineProvider({ key: 'demo', name: 'Demo', id: 'integer', getById: undefined }), /needs identify .* or getById/],
    [defineProvider({ ...base }), /id must be 'integer' or 'string', not undefined/],
    [defineProvider({ ...base, kind: 'ids', id: 'integer' }), /has no id of its own; remove id/],
    // @ts-expect-error a group has its required members
    [defineProvider({ ...base, id: 'integer', progress: { read: async () => [] } }), /progress needs progress\.account/],
    // @ts-expect-error a group has its required members
    [defineProvider({ ...base, id: 'integer', media: { accept: async () => true } }), /media needs media\.fetch/],
    [defineProvider({
      ...base, id: 'integer', progress: { account: Type.Object({ password: Type.String() }), schema: Type.Object({}), read: async () => [] }
    }), /progress\.account\.password must begin with "demo_"/],
    [defineProvider({ ...base, id: 'integer', order: { after: ['demo'] } }), /name other providers, not this one/],
    [defineProvider({ ...base, id: 'integer', scanOptions: Type.Object({ remote: Type.Boolean() }) }),
      /scanOptions\.remote needs a default/]
  ]
  const known = { rom, id: 11 }
  for (const [provider, message] of bad) {
    t.match(await problemOf(provider, { known }).catch((err: unknown) => String(err)), message)
  }
})

t.test('a provider with getById only is tested by id', async (t) => {
  const provider: Provider = defineProvider({
    key: 'demo',
    name: 'Demo',
    id: 'string',
    getById: async (id, _rom, { signal }) => {
      signal.throwIfAborted()
      return id === 'harbor' ? { id, name: 'Chrono Harbor' } : undefined
    }
  })
  const { failed } = await runSuite((runner) =>
    testProvider(runner, provider, { known: { rom, id: 'harbor', name: 'Chrono Harbor' } }))
  t.same([...failed], [])
  await t.rejects(testProvider({ test: () => undefined }, provider, { known: { rom } }), /getById \(id, rom, ctx\) and in its test known\.id/)
})

t.test('a provider of kind ids returns only ids of its linked providers', async (t) => {
  const runIds = (match: LinkMatch) => runSuite((runner) => testProvider(runner, defineProvider({
    key: 'demo',
    name: 'Demo',
    kind: 'ids',
    order: { links: ['igdb'] },
    async identify (rom, { signal }) {
      signal.throwIfAborted()
      return rom.fs_name_no_tags === 'Chrono Harbor' ? match : undefined
    }
  }), { known: { rom } }))
  t.same([...(await runIds({ ids: { igdb: 4711 } })).failed], [])
  t.match((await runIds({ ids: { moby: 1 } })).failed.get(MATCH), /links must have "moby"/)
  const withId = { id: 11, ids: { igdb: 4711 } }
  t.match((await runIds(withId)).failed.get(MATCH), /has no id of its own/)
})

t.test('a context holds scan options, matches of others and reported limits', async (t) => {
  const provider = defineProvider({
    ...base,
    id: 'integer',
    order: { after: ['igdb'] },
    scanOptions: Type.Object({ remote: Type.Boolean({ default: true }) }),
    async identify (_rom, { options, found, http }) {
      http.setLimits({ rates: [{ requests: 1, perMs: 1200 }] })
      http.setAllowance({ name: 'day', remaining: 0, resetsAt: 7 })
      const { name } = found.get('igdb') as { name?: string } ?? {}
      return options.remote ? { id: 1, name } : undefined
    }
  })
  const given = createPluginContext(provider, { found: { igdb: { id: 4711, name: 'Chrono Harbor' } } })
  const ask = (ctx: typeof given) => provider.definition.identify?.(ROM, ctx)
  t.match(await ask(given), { name: 'Chrono Harbor' })
  t.same(given.limits, [{ rates: [{ requests: 1, perMs: 1200 }] }])
  t.same(given.allowances, [{ name: 'day', remaining: 0, resetsAt: 7 }])
  t.equal(await ask(createPluginContext(provider, { options: { remote: false } })), undefined)
})

t.test('an index is built once, on first use, from a streamed zip', async (t) => {
  const bytes = await zip({ 'readme.txt': 'x', 'games.tsv': 'Chrono Harbor\t11\nTide\t12\nTide\t13\n' })
  const provider: Provider = defineProvider({
    key: 'demo',
    name: 'Demo',
    id: 'integer',
    index: {
      async * build ({ http, report }) {
        for await (const member of http.unzip(`${BASE}/games.zip`, ['games.tsv'])) {
          const chunks: Uint8Array[] = []
          for await (const chunk of member.chunks) chunks.push(chunk)
          const lines = Buffer.concat(chunks).toString().split('\n').filter((line) => line !== '')
          report({ done: lines.length, total: lines.length })
          yield lines.map((line) => line.split('\t')).map(([title = '', id]) => [title, { id: Number(id) }] as const)
        }
      }
    },
    async identify (rom, { index }) {
      const [game] = (await index.getMany(rom.titles)).get(rom.titles[0] ?? '') ?? []
      return isFields(game) && typeof game.id === 'number' ? { id: game.id } : undefined
    }
  })
  const responses = [{ url: `${BASE}/games.zip`, bytes }]
  const { failed } = await runSuite((runner) => testProvider(runner, provider, { responses, known: { rom, id: 11 } }))
  t.same([...failed], [])
  const ctx = createPluginContext(provider, { responses })
  t.equal(await ctx.index.builtAt(), undefined)
  t.same([...await ctx.index.getMany(['Tide', 'Nothing'])], [['Tide', [{ id: 12 }, { id: 13 }]]])
  t.type(await ctx.index.builtAt(), 'number')
  await ctx.index.getMany(['Chrono Harbor'])
  t.equal(ctx.requests.length, 1)
  await t.rejects(createPluginContext(defineProvider({ ...base, id: 'integer' })).index.getMany(['x']), /declares no index/)
})

t.test('a response that is no zip is an outage', async (t) => {
  const { http } = createPluginContext(defineProvider({ ...base, id: 'integer' }), { responses: [{ url: '*', text: 'maintenance' }] })
  await t.rejects(async () => { for await (const member of http.unzip(BASE, ['a'])) t.fail(member.name) }, ServiceDownError)
})

t.test('configured folders are read separately from the library', async (t) => {
  const ctx = createPluginContext(defineProvider({ ...base, id: 'integer' }), { folders: { data: { 'a/b.txt': 'text' } } })
  t.equal(await ctx.folders.data?.readText('a/b.txt'), 'text')
  t.equal(await ctx.files.readText('a/b.txt'), undefined)
})

t.test('only progress.read may throw that the account does not exist', async (t) => {
  const create = (throwsInLookup: boolean): Provider => defineProvider({
    key: 'demo',
    name: 'Demo',
    id: 'integer',
    async getById (id, _rom, { http }) {
      const answer = await http.json(`${BASE}/games/11`, { accept: [404] }).catch((err: unknown) => {
        if (throwsInLookup && err instanceof HttpStatusError) throw new InvalidSettingsError('no such account')
        throw err
      })
      return isFields(answer) && readText(answer, 'name') === 'Tide' ? { id } : undefined
    },
    progress: {
      account: Type.Object({ demo_username: Type.String() }),
      schema: Type.Object({ earned: Type.Integer() }),
      async read ({ demo_username: name }, _before, { http }) {
        const response = await http.request(`${BASE}/users/${name}`, { accept: [401] })
        const answer = response.status === 401 ? undefined : response.json()
        if (isFields(answer) && readText(answer, 'name') === name) return [{ id: 11, earned: 3 }]
        throw new InvalidSettingsError(`there is no ${name}; correct demo_username`)
      }
    }
  })
  const run = (provider: Provider) => runSuite((runner) => testProvider(runner, provider, {
    known: { rom, id: 11 },
    account: { demo_username: 'ada' },
    responses: [{ url: `${BASE}/users/ada`, json: { name: 'ada' } }, { url: `${BASE}/games/11`, json: { name: 'Tide' } }]
  }))
  t.same([...(await run(create(false))).failed], [])
  const { failed } = await run(create(true))
  t.match(failed.get('getById reports an outage as an outage'), /must throw one of the SDK's errors .* InvalidSettingsError/)
})

t.test('progress must fit its schema, and covers must have URLs', async (t) => {
  const create = (earned: unknown, url: string): Provider => defineProvider({
    key: 'demo',
    name: 'Demo',
    id: 'integer',
    async getById (id, _rom, { signal }) {
      signal.throwIfAborted()
      return { id }
    },
    progress: {
      account: Type.Object({ demo_username: Type.String() }),
      schema: Type.Object({ earned: Type.Integer() }),
      async read ({ demo_username: name }, _before, { http }) {
        const answer = await http.json(`${BASE}/users/${name}`)
        return isFields(answer) && readText(answer, 'name') === name ? [{ id: 11, earned: earned as number }] : []
      }
    },
    async searchCovers (term, { signal }) {
      signal.throwIfAborted()
      return [{ name: term, covers: [{ url, thumb: `${BASE}/small.png` }] }]
    }
  })
  const run = (provider: Provider) => runSuite((runner) => testProvider(runner, provider, {
    known: { rom, id: 11 }, account: { demo_username: 'ada' }, responses: [{ url: `${BASE}/users/ada`, json: { name: 'ada' } }]
  }))
  t.same([...(await run(create(3, `${BASE}/1.png`))).failed], [])
  const { failed } = await run(create('three', '1.png'))
  t.match(failed.get('progress.read returns a valid result'), /earned must be integer; it is "three"/)
  t.match(failed.get('searchCovers returns a valid result'), /"1\.png" must be an absolute/)
})
