import {
  CredentialsRefusedError, DeliveryRefusedError, HttpStatusError, InvalidSettingsError, RateLimitedError, ServiceDownError,
  Type, defineProvider
} from '@svc/plugin-sdk'

/** A provider that uses every feature of the contract, and returns what it received. */
const text = async (chunks) => {
  const parts = []
  for await (const chunk of chunks) parts.push(Buffer.from(chunk))
  return Buffer.concat(parts).toString()
}

const failed = async (work) => await work().then(() => 'nothing', ({ name, message }) => `${name}: ${message}`)

const ERRORS = {
  credentials: () => new CredentialsRefusedError('the key is not hunter2-hunter2'),
  limited: () => new RateLimitedError('slower', 1_500),
  down: () => new ServiceDownError('gone'),
  status: () => new HttpStatusError(418, 'a teapot', 'short and stout'),
  settings: () => new InvalidSettingsError('no such user'),
  refused: () => new DeliveryRefusedError('unwanted'),
  bug: () => new TypeError('undefined is not a game'),
  coded: () => Object.assign(new Error('no entry'), { code: 'ENOENT' })
}

async function readFiles (files, folder) {
  return {
    text: await files.readText('a/b.txt'),
    none: [await files.readText('no.txt'), await files.exists('no.txt'), await files.list('no')],
    streamed: await text(files.stream('a/b.txt')),
    listed: (await files.list(folder)).map(({ name, kind, size }) => [name, kind, size]),
    tooLarge: await failed(() => files.readText('a/b.txt', 2)),
    outside: await failed(() => files.readText('../outside.txt'))
  }
}

async function readService ({ config: { url }, http }) {
  const answer = await http.request(`${url}/json`, { query: { a: [1, 2], b: 'ü' }, headers: { 'x-own': '1' }, accept: [404] })
  const posted = await http.json(`${url}/echo`, { method: 'POST', json: { a: [null] } })
  const members = []
  for await (const { name, size, chunks } of http.unzip(`${url}/zip`, ['b.txt', 'a.txt'])) {
    members.push([name, size, await text(chunks)])
  }
  return {
    answer: [answer.status, answer.headers['content-type'], answer.text(), answer.json(), answer.bytes.length],
    posted,
    bytes: await http.text(`${url}/echo`, { method: 'POST', body: new Uint8Array([104, 105]) }),
    missing: (await http.request(`${url}/missing`, { accept: [404] })).status,
    refused: await failed(() => http.json(`${url}/missing`)),
    noJson: await failed(() => http.json(`${url}/text`)),
    notDeclared: await failed(() => http.text('http://other.example/')),
    streamed: (await text(http.stream(`${url}/long`))).length,
    brokenStream: await failed(() => text(http.stream(`${url}/missing`))),
    members
  }
}

export default defineProvider({
  key: 'whole',
  name: 'Whole',
  id: 'integer',
  tag: 'whole',
  order: { links: ['igdb'], after: ['hasheous'], when: 'always' },
  claims: ['name'],
  attribution: 'Whole, by nobody',
  config: Type.Object({
    url: Type.String({ description: 'Where it is' }),
    token: Type.String({ writeOnly: true, description: 'Key of the account' }),
    place: Type.String({ folder: true, description: 'A folder of its own' })
  }),
  metadata: Type.Object({ seen: Type.Unknown() }),
  limits: ({ token }) => ({ concurrency: token.length, timeoutMs: 20_000 }),
  platforms: { snes: 2, nes: [1, 3], arcade: true, gb: { ids: [7], family_name: 'Nintendo' } },
  scanOptions: Type.Object({ whole_deep: Type.Boolean({ default: false }) }),
  index: {
    titles: { mame: 'mame:' },
    async * build ({ config: { url }, http, report }) {
      for await (const { name, chunks } of http.unzip(`${url}/zip`, ['a.txt', 'b.txt'])) {
        report({ done: 1, total: 2, message: name })
        yield [[`member:${name}`, { text: await text(chunks) }], [`mame:${name}`, name]]
      }
    }
  },

  async setup ({ cache }) {
    await cache.set('set-up', true)
  },
  async identify (rom, ctx) {
    const { cache, config, found, index, memo, options, preferences, signal } = ctx
    ctx.log.warn({ rom: rom.fs_name, token: config.token }, 'asked')
    await cache.set('mine', { a: [1, null] }, 60_000)
    await cache.set('gone', 1)
    await cache.delete('gone')
    const [one, two] = await Promise.all([memo('once', async () => ({})), memo('once', async () => ({}))])
    return {
      id: rom.id,
      name: rom.name ?? undefined,
      score: 0.5,
      ids: { igdb: 4711 },
      media: [{ kind: 'cover', url: 'folder://place/cover.png' }],
      metadata: {
        seen: {
          rom,
          config,
          options,
          preferences,
          found: [...found],
          isAborted: signal.aborted,
          isShared: one === two,
          kept: [await cache.get('set-up'), await cache.get('mine'), await cache.get('gone')],
          files: await readFiles(ctx.files, 'a'),
          folders: [Object.keys(ctx.folders), await readFiles(ctx.folders.place, '')],
          service: await readService(ctx),
          index: [[...await index.getMany(['member:b.txt', 'none', 'member:a.txt'])], typeof await index.builtAt()]
        }
      }
    }
  },
  async getById (id, rom, { http }) {
    http.setLimits({ concurrency: 2, rates: [{ requests: 1, perMs: 10 }] })
    http.setAllowance({ name: 'day', remaining: 5, total: 9, resetsAt: 4_000_000_000_000 })
    return id === 0 ? undefined : { id, name: rom === undefined ? 'no ROM' : rom.fs_name }
  },
  async search ({ term, platform }) {
    return [{ id: 1, name: `${term} on ${platform.slug}` }, { id: 2, name: undefined, genres: ['Puzzle'] }]
  },
  async searchCovers (term) {
    return [{ name: term, covers: [{ url: 'https://a.example/1.png', thumb: 'https://a.example/2.png', width: 5, is_animated: false }] }]
  },
  async suggest (rom, ids, { cache }) {
    await cache.set('suggested', [rom.fs_name, ids])
  },
  media: {
    async fetch ({ url }, { config }) {
      return { url, query: { key: config.token }, headers: { 'x-key': config.token }, timeoutMs: 5 }
    },
    async accept (media, { pixels, size }, _ctx) {
      return pixels instanceof Uint8Array && pixels.at(-1) === size
    }
  },
  progress: {
    account: Type.Object({ whole_username: Type.String() }),
    schema: Type.Object({ done: Type.Integer() }),
    async read ({ whole_username: name }, before = []) {
      if (name === 'nobody') throw ERRORS.settings()
      return [{ id: 1, done: before.length }]
    }
  },
  async heartbeat ({ cache, signal }) {
    const wanted = await cache.get('fail')
    if (wanted === 'wait') {
      await new Promise((_resolve, reject) => { signal.addEventListener('abort', () => { reject(signal.reason) }) })
    }
    if (typeof wanted === 'string') throw ERRORS[wanted]()
    return true
  }
})
