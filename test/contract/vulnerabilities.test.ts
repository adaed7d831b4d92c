import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { type AssetItem, PNG, createClient, listStored } from '../plugins/assets/support.ts'
import { addRom } from '../plugins/roms/support.ts'
import { type TestApp, buildTestApp, shareTestApp } from '../support.ts'

/**
 * Known vulnerabilities of a server of this kind, by number. Each has a test whose title begins with its number, here
 * or among the tests of its feature.
 */
const NUMBERS = Array.from({ length: 17 }, (_, index) => `V${index + 1}`)

/** Vulnerabilities of features that do not exist yet: their future routes, and the beginning of the test's title. */
const AWAITED: readonly { routes: RegExp, title: string }[] = [
  { routes: /^\/api\/raw\b/, title: 'V1, raw assets: ' },
  { routes: /^\/api\/raw\b/, title: 'V10, raw assets: ' },
  { routes: /^\/api\/streaming\b/, title: 'V8, streaming: ' },
  { routes: /^\/api\/feeds\b/, title: 'V9, feeds: ' },
  { routes: /^\/api\/netplay\b/, title: 'V9, netplay: ' }
]

/** True for numbers that only concern such features. */
const isAwaitedWhole = (number: string) => AWAITED.some(({ title }) => title === `${number}: `)

/** Lists the titles of all tests that begin with a number. */
async function listTitles (): Promise<string[]> {
  const folder = join(SERVER_DIR, 'test')
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.test.ts'))
  const sources = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
  return sources.flatMap((source) => [...source.matchAll(/\bt\.test\(['"`](V\d+(?:, [a-z ]+)?: )/g)].map(([, title]) => title ?? ''))
}

type Client = ReturnType<typeof createClient>

/** Lists the missing titles for a server with these routes. */
function findMissing (paths: readonly string[], titles: readonly string[]): string[] {
  const due = AWAITED.filter(({ routes }) => paths.some((path) => routes.test(path))).map(({ title }) => title)
  const wanted = [...NUMBERS.filter((number) => !isAwaitedWhole(number)).map((number) => `${number}: `), ...due]
  return wanted.filter((title) => !titles.includes(title))
}

const fresh = shareTestApp(t)

t.test('every known vulnerability of existing features has its test', async (t) => {
  const { app } = await fresh(t)
  const paths = Object.keys((await app.inject('/openapi.json')).json<{ paths: object }>().paths)
  const titles = await listTitles()
  t.same(findMissing(paths, titles), [])
  for (const title of titles) t.ok(NUMBERS.includes(title.split(/[:,]/, 1)[0] ?? ''), `${title} is one of ${NUMBERS.length}`)
  t.same(findMissing(['/api/streaming/{id}', '/api/raw/assets/{path}'], []).slice(-3),
    ['V1, raw assets: ', 'V10, raw assets: ', 'V8, streaming: '], 'a new feature asks for its tests')
})

/** Creates a private collection of alice's of each stored kind, and a public one, all with the same ROM. */
async function makeCollections (test: TestApp, alice: Client) {
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  const make = async (path: string, isPublic: boolean, name: string) =>
    (await alice.send('POST', path, { is_public: isPublic }, [{ name: 'name', content: name }])).json<{ id: number }>().id
  const plain = await make('/api/collections', false, 'a secret')
  await alice.call('POST', `/api/collections/${plain}/roms`, { rom_ids: [rom] })
  const shown = await make('/api/collections', true, 'shown')
  return { rom, shown, plain, smart: await make('/api/collections/smart', false, 'a smart secret') }
}

t.test('V3: a private collection is visible only to its owner, not to administrators', async (t) => {
  const test = await fresh(t)
  const alice = createClient(test, await test.createUser('alice'))
  const others = [createClient(test, await test.createUser('bob')), createClient(test, test.admin)]
  const { rom, shown, plain, smart } = await makeCollections(test, alice)
  for (const other of others) {
    for (const path of [`/api/collections/${plain}`, `/api/collections/smart/${smart}`]) {
      const { statusCode, body } = await other.call('GET', path)
      t.equal(statusCode, 404, path)
      t.notMatch(body, 'secret')
    }
    t.same(await other.get('/api/collections/identifiers'), [shown])
    t.same(await other.get('/api/collections/smart/identifiers'), [])
    for (const path of ['/api/collections', '/api/collections/smart', `/api/roms/${rom}`]) {
      t.notMatch((await other.call('GET', path)).body, 'secret', path)
    }
    for (const query of [`collection_id=${plain}`, `smart_collection_id=${smart}`]) {
      t.match(await other.get(`/api/roms?${query}`), { total: 0, rom_id_index: [], filter_values: { platforms: { length: 0 } } }, query)
      t.equal((await other.call('GET', `/api/roms/random?${query}`)).body, 'null', query)
      t.equal((await other.call('GET', `/api/roms/download?${query}`)).statusCode, 404, query)
      t.match(await alice.get(`/api/roms?${query}`), { total: 1 }, `${query} by its owner`)
    }
  }
})

t.test('V4: only its owner changes or deletes a collection, public or not', async (t) => {
  const test = await fresh(t)
  const alice = createClient(test, await test.createUser('alice'))
  const others = [createClient(test, await test.createUser('bob')), createClient(test, test.admin)]
  const { rom, shown, plain, smart } = await makeCollections(test, alice)
  const read = async () => [await alice.get('/api/collections'), await alice.get('/api/collections/smart')]
  const before = await read()
  for (const other of others) {
    for (const [id, status, detail] of [
      [plain, 404, `Collection with id '${plain}' not found`], [shown, 403, `Permission denied for collection with id '${shown}'`]
    ] as const) {
      const replies = [
        await other.call('DELETE', `/api/collections/${id}`),
        await other.call('POST', `/api/collections/${id}/roms`, { rom_ids: [rom] }),
        await other.call('DELETE', `/api/collections/${id}/roms`, { rom_ids: [rom] }),
        await other.send('PUT', `/api/collections/${id}`, { is_public: true, remove_cover: true }, [{ name: 'rom_ids', content: '[]' }])
      ]
      for (const reply of replies) {
        t.match([reply.statusCode, reply.json()], [status, { detail }])
      }
    }
    t.equal((await other.call('DELETE', `/api/collections/smart/${smart}`)).statusCode, 404)
    t.equal((await other.send('PUT', `/api/collections/smart/${smart}`, { is_public: true }, [])).statusCode, 404)
  }
  t.same(await read(), before)
})

t.test('V7: over TLS session cookies are sent only over TLS', async (t) => {
  const { app, admin } = await buildTestApp(t, { env: { SVC_TRUSTED_PROXIES: '127.0.0.1' } })
  const signIn = async (headers: Record<string, string>) => {
    const { cookies } = await app.inject({ method: 'POST', url: '/api/login', headers: { ...admin, ...headers } })
    return cookies.map(({ name, secure }: { name: string, secure?: boolean }) => [name, secure === true])
  }
  t.same(await signIn({ 'x-forwarded-proto': 'https' }), [['svc_session', true], ['svc_csrftoken', true]])
  t.same(await signIn({}), [['svc_session', false], ['svc_csrftoken', false]])
})

t.test('V7: no number of saves to keep empties a slot', async (t) => {
  const test = await fresh(t)
  const alice = createClient(test, await test.createUser('alice'))
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  for (const [index, limit] of [0, -1, -2_147_483_648].entries()) {
    const slot = { rom_id: rom, slot: 'main', autocleanup: true, autocleanup_limit: limit }
    const { id } = await alice.save(slot, 'Game.srm', `content ${index}`)
    const kept = await alice.get<AssetItem[]>(`/api/saves?rom_id=${rom}`)
    t.ok(kept.some((save) => save.id === id), `what came with ${limit} is there`)
  }
})

t.test("V10: no address serves a user's file without a login", async (t) => {
  const test = await fresh(t)
  const alice = createClient(test, await test.createUser('alice'))
  const bob = createClient(test, await test.createUser('bob'))
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  const save = await alice.save({ rom_id: rom }, 'Game.srm', 'a secret save', [{ name: 'screenshotFile', fileName: 'a.png', content: PNG }])
  const state = await alice.state({ rom_id: rom }, 'Game.state', 'a secret state')
  const stored = await listStored(test)
  t.ok(stored.length >= 3, `${stored.length} files`)
  const links = [save.download_path, state.download_path, save.screenshot?.download_path ?? '']
  const places = [...stored, save.full_path, state.full_path].flatMap((path) =>
    ['/', '/assets/', '/assets/romm/assets/', '/assets/svc/', '/assets/romm/resources/', '/assets/romm/resources/../assets/', '/data/assets/',
      '/api/docs/'].map((base) => base + path.split('/').map(encodeURIComponent).join('/')))
  for (const url of [...links, ...places]) {
    for (const [who, reply] of [['a stranger', await test.app.inject({ url })], ['another user', await bob.call('GET', url)]] as const) {
      t.ok([400, 401, 403, 404].includes(reply.statusCode), `${url} answers ${who} with ${reply.statusCode}`)
      t.notMatch(reply.body, 'secret s')
    }
  }
  t.equal(await alice.content(save.download_path), 'a secret save')
})

t.test('V13: a file that a browser would run is no picture, whatever its name', async (t) => {
  const test = await fresh(t)
  const alice = createClient(test, await test.createUser('alice'))
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  for (const content of ['<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>', '<!doctype html><script>1</script>']) {
    for (const fileName of ['a.png', 'a.svg', 'a.html', 'a']) {
      const reply = await alice.send('POST', '/api/screenshots', { rom_id: rom }, [{ name: 'screenshotFile', fileName, content }])
      t.equal(reply.statusCode, 400, fileName)
    }
  }
  t.same(await listStored(test), [])
})

t.test('V14: pages among saves and states are served as files that nothing runs', async (t) => {
  const test = await fresh(t)
  const alice = createClient(test, await test.createUser('alice'))
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  const page = '<!doctype html><script>1</script>'
  const { download_path: save } = await alice.save({ rom_id: rom }, 'Game.html', page)
  const { download_path: state } = await alice.state({ rom_id: rom }, 'Game.svg', page)
  for (const url of [save, state]) {
    const { headers, body } = await alice.call('GET', url)
    t.equal(body, page)
    t.match(headers, {
      'content-type': 'application/octet-stream', 'content-disposition': /^attachment;/, 'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'"
    })
  }
})
