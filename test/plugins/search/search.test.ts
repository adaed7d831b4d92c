import { CredentialsRefusedError, type CoverChoice, RateLimitedError } from '@svc/plugin-sdk'
import sharp from 'sharp'
import t from 'tap'
import { startServer } from '../../core/http/server.ts'
import { resetShelf, shelf } from '../fixtures/shelf.ts'
import { resetVault, vault } from '../fixtures/vault.ts'
import { buildScanTest } from '../scans/support.ts'

type Result = Record<string, unknown>
interface LeftOut { provider: string, code: string, reason: string, until: string | null }

const PICTURE = await sharp({ create: { width: 900, height: 1200, channels: 3, background: '#345' } }).png().toBuffer()
const pictures = await startServer(t, (request, response) => {
  if (request.url === '/cover.png') response.writeHead(200, { 'content-type': 'image/png' }).end(PICTURE)
  else if (request.url === '/page.png') response.writeHead(200, { 'content-type': 'text/html' }).end('<svg onload=alert(1)>')
  else response.writeHead(404).end()
})
const { app, admin, createUser, put, scan, rom, sql } = await buildScanTest(t, {
  providers: ['shelf', 'vault', 'sleeves'],
  config: {
    filesystem: { skip_hash_calculation: true },
    plugins: { vault: { key: 'open sesame', base_url: pictures.url } },
    scan: { priority: { metadata: ['vault', 'shelf'] } }
  }
})
await put({ 'roms/gb/The Chrono Tale (Japan).gb': 'tale', 'roms/c64/Other.d64': 'other' })
await scan()
const { id } = await rom('gb', 'The Chrono Tale (Japan).gb')
const { id: otherId } = await rom('c64', 'Other.d64')
const zoe = await createUser('zoe')

t.beforeEach(() => {
  resetVault()
  resetShelf()
})

const get = async (url: string, headers: object = admin) => await app.inject({ url, headers: { ...headers } })
const search = async (query: Record<string, string | number> = {}, headers?: object) =>
  await get(`/api/search/roms?${new URLSearchParams({ rom_id: String(id), ...query as Record<string, string> }).toString()}`, headers)
const covers = async (term: string, headers?: object) => await get(`/api/search/cover?search_term=${encodeURIComponent(term)}`, headers)
const leftOut = ({ headers: { 'x-left-out': header } }: Awaited<ReturnType<typeof get>>) =>
  JSON.parse(typeof header === 'string' ? header : '[]') as LeftOut[]
const cover = (name: string) => [{ kind: 'cover' as const, url: `https://${name}.example/cover.png` }]

t.test('all providers search for the file name, and games with one name are merged', async (t) => {
  const asked: string[] = []
  vault.search = (term, { preferences }, platform) => {
    asked.push(`vault ${term} ${platform.slug}`)
    t.equal(preferences.regions[0], 'jp', 'its own region goes first')
    return [{ id: 5, name: 'The Chrono Tale', media: cover('vault') }, { id: 6, name: 'Chrono Tale', summary: 'Another' }]
  }
  shelf.search = ({ term, platform }) => {
    asked.push(`shelf ${term} ${platform.slug}`)
    return [{ id: 'x', name: 'the CHRONO tale!', summary: 'Not taken: the first source says nothing', slug: 'x', media: cover('shelf') },
      { id: 'y', name: 'Chrono Tale II', slug: 'ii', media: [{ kind: 'cover', url: 'javascript:alert(1)' }] }]
  }
  shelf.picture = (term) => term === 'the chrono tale' ? 'https://sleeves.example/a.png' : undefined
  const answer = await search()
  t.equal(answer.statusCode, 200, answer.body)
  t.same(asked.sort(), ['shelf The Chrono Tale gb', 'vault The Chrono Tale gb'])
  const results = answer.json<Result[]>()
  t.equal(results.length, 3)
  t.match(results, [
    {
      id: null, name: 'The Chrono Tale', summary: '', slug: '', vault_id: 5, shelf_id: 'x', sleeves_id: 700, igdb_id: null,
      vault_url_cover: 'https://vault.example/cover.png', shelf_url_cover: 'https://shelf.example/cover.png',
      sleeves_url_cover: 'https://sleeves.example/a.png', igdb_url_cover: '', is_identified: true, is_unidentified: false
    },
    { name: 'Chrono Tale', summary: 'Another', vault_id: 6, shelf_id: null, sleeves_id: null, sleeves_url_cover: '' },
    { name: 'Chrono Tale II', slug: 'ii', vault_id: null, shelf_id: 'y', shelf_url_cover: '' }
  ])
  for (const field of ['moby_id', 'ss_id', 'sgdb_id', 'launchbox_id', 'flashpoint_id', 'libretro_id']) {
    t.equal(results[0]?.[field], null, field)
  }
  const [row] = await sql<{ platform_id: number }>('select platform_id from roms where id = $1', [id])
  t.equal(results[0]?.platform_id, row?.platform_id)
  t.equal(answer.headers['x-left-out'], undefined)
})

t.test('a candidate has the year of the first release and the similarity of its name', async (t) => {
  vault.search = () => [{ id: 5, name: 'The Chrono Tale', first_release_date: Date.UTC(1994, 2, 19) }, { id: 6, name: 'Other' }]
  shelf.search = () => [{ id: 'x', name: 'Other', first_release_date: Date.UTC(2001, 0, 1) }]
  const [same, other] = (await search()).json<Result[]>()
  t.match(same, { year: 1994, score: 1 })
  t.match(other, { year: 2001 }, 'the most trusted provider that knows a year')
  t.ok(Number(other?.score) < 0.7, 'another name')
})

t.test('a picture of a search is shown small, from trusted addresses only', async (t) => {
  const picture = (url: string, headers?: object) => get(`/api/search/picture?url=${encodeURIComponent(url)}`, headers)
  const shown = await picture(`${pictures.url}/cover.png`)
  t.match(shown, { statusCode: 200, headers: { 'content-type': 'image/webp', 'cache-control': 'private, max-age=86400' } }, shown.body)
  t.match(await sharp(shown.rawPayload).metadata(), { format: 'webp', width: 360, height: 480 })
  for (const url of [`${pictures.url}/none.png`, `${pictures.url}/page.png`, 'http://127.0.0.1:9/x.png', 'file:///etc/passwd', 'http://']) {
    const refused = await picture(url)
    t.equal(refused.statusCode, 400, url)
    t.match(refused.json<{ detail: string }>().detail, url, 'the message quotes the address')
  }
  t.equal((await picture(`${pictures.url}/cover.png`, await createUser('yan'))).statusCode, 403, 'only for people who may edit')
})

t.test('a search uses the given term, by name in any case; other kinds find nothing', async (t) => {
  const asked: string[] = []
  vault.search = (term) => {
    asked.push(term)
    return [{ id: 5, name: term }, { id: 9 }]
  }
  t.match((await search({ search_term: ' Harbor ', search_by: 'NAME' })).json(), [{ name: 'Harbor', vault_id: 5 }])
  t.equal((await search({ search_term: 'Harbor' })).json<Result[]>().length, 1, 'what has no name cannot be chosen')
  t.same((await search({ search_by: 'colour' })).json(), [])
  t.same(asked, ['Harbor', 'Harbor'])
})

t.test('a number is looked up at the providers with integer ids', async (t) => {
  vault.getById = (wanted) => wanted === 41 ? { id: 41, name: 'Forty-one' } : undefined
  t.match((await search({ search_term: '41', search_by: 'Id' })).json(), [{ name: 'Forty-one', vault_id: 41, shelf_id: null }])
  t.same((await search({ search_term: '42', search_by: 'id' })).json(), [])
  for (const term of ['', 'abc', '4.5', '99999999999999999999']) {
    t.match(await search({ search_term: term, search_by: 'id' }), { statusCode: 400, body: /which is not a number/ }, term)
  }
})

t.test('a provider is not asked about a platform that it does not know', async (t) => {
  shelf.search = () => { throw new Error('asked') }
  vault.search = () => [{ id: 1, name: 'Other' }]
  const answer = await search({ rom_id: otherId })
  t.match(answer.json(), [{ vault_id: 1 }])
  t.same(leftOut(answer), [])
})

t.test('providers that fail, hang, send nonsense or pause are skipped with a reason', async (t) => {
  vault.search = () => [{ id: 5, name: 'Found' }]
  const failures: [() => never, string, string][] = [
    [() => { throw new Error('the key is open sesame') }, 'failed', 'it failed; see the log of the server'],
    [() => { throw new RateLimitedError('slow down', 60_000) }, 'paused', 'it asks for a pause'],
    [() => { throw new CredentialsRefusedError('no') }, 'refused', 'it refused its credentials'],
    [() => new Promise(() => {}) as never, 'timeout', 'it did not answer in time'],
    [() => [{ id: 7, name: 'A number for a text' }] as never, 'failed', 'it failed; see the log of the server'],
    [() => 'text' as never, 'failed', 'it failed; see the log of the server']
  ]
  for (const [fail, code, reason] of failures) {
    shelf.search = fail
    const answer = await search()
    t.equal(answer.statusCode, 200, reason)
    t.match(answer.json(), [{ name: 'Found' }])
    t.same(leftOut(answer), [{ provider: 'shelf', code, reason, until: null }])
  }
})

t.test('missing pictures of an artwork provider do not affect the games', async (t) => {
  vault.search = () => [{ id: 5, name: 'Found' }]
  shelf.picture = () => { throw new Error('no pictures today') }
  const answer = await search()
  t.match(answer.json(), [{ name: 'Found', sleeves_id: null }])
  t.match(leftOut(answer), [{ provider: 'sleeves' }])
})

t.test('a search fails only if no provider answers, and says when to retry', async (t) => {
  vault.search = shelf.search = () => { throw new Error('down') }
  const answer = await search()
  t.equal(answer.statusCode, 503)
  t.match(answer.json(), { detail: /No metadata provider answered: .*vault: it failed/ })
  t.ok(answer.headers['retry-after'])
})

t.test('a hidden or unknown ROM gives no games and asks no provider', async (t) => {
  vault.search = () => { throw new Error('asked') }
  const [user] = await sql<{ id: number }>("select id from users where username = 'zoe'")
  await sql("insert into hidden_entities (entity, entity_id, user_id) values ('roms', $1, $2)", [id, user?.id])
  t.match(await search({}, zoe), { statusCode: 200, body: '[]' })
  await sql('delete from hidden_entities')
  t.match(await search({ rom_id: 999_999 }), { statusCode: 200, body: '[]' })
  t.equal((await search({ rom_id: '99999999999999999999' })).statusCode, 422)
  t.equal((await get('/api/search/roms')).statusCode, 422)
  t.equal((await app.inject({ url: `/api/search/roms?rom_id=${id}` })).statusCode, 401)
})

t.test('an age limit applies to found games as to the library', async (t) => {
  vault.search = () => [{ id: 1, name: 'Gory', min_age: 12 }, { id: 2, name: 'Mild', min_age: 6 }, { id: 3, name: 'Unrated' }]
  shelf.search = () => [{ id: 'g', name: 'Gory', min_age: 18 }]
  const art = (nsfw?: boolean): CoverChoice => ({ url: 'https://x.example/1.png', thumb: 'https://x.example/t.png', nsfw })
  vault.covers = () => [{ name: 'Both', covers: [art(true), art()] as never }, { name: 'One', covers: [art(true)] as never }]
  const names = async () => (await search({}, zoe)).json<{ name: string }[]>().map(({ name }) => name)
  const limit = (fields: string) => sql(`update permission_groups set ${fields}`)
  t.same(await names(), ['Gory', 'Mild', 'Unrated'])
  t.equal((await covers('x', zoe)).json<{ resources: unknown[] }[]>()[0]?.resources.length, 2)
  await limit('age_limit = 12')
  t.same(await names(), ['Mild', 'Unrated'], 'the strictest rating counts')
  t.match((await covers('x', zoe)).json(), [{ name: 'Both', resources: [{ nsfw: false }] }])
  t.equal((await covers('x', zoe)).json<unknown[]>().length, 1)
  await limit('hide_unrated_roms = true')
  await sql('update roms set min_age = 6 where id = $1', [id])
  t.same(await names(), ['Mild'])
  await sql('update roms set min_age = 18 where id = $1', [id])
  t.same(await names(), [], 'nothing for a ROM that is beyond the limit itself')
  await limit('age_limit = null, hide_unrated_roms = false')
})

t.test('covers are grouped by game with all their properties', async (t) => {
  const terms: string[] = []
  vault.covers = (term) => {
    terms.push(term)
    return [{ name: 'Chrono Tale', covers: [{ url: 'https://v.example/a.webp', thumb: 'https://v.example/t.png', score: 3 }] }]
  }
  shelf.covers = () => [{
    name: 'Chrono Tale (1995)',
    covers: [{
      url: 'https://s.example/a.webp', thumb: 'https://s.example/t.png', width: 600, height: 900, style: 'alternate',
      author: 'Ann', is_animated: true, humor: true, epilepsy: true
    }]
  }]
  const answer = await covers(' Chrono Tale ')
  t.equal(answer.statusCode, 200, answer.body)
  t.same(terms, ['Chrono Tale'])
  t.same(answer.json(), [
    {
      name: 'Chrono Tale (1995)',
      resources: [{
        url: 'https://s.example/a.webp', thumb: 'https://s.example/t.png', type: 'animated', style: 'alternate', author: 'Ann',
        width: 600, height: 900, score: 0, nsfw: false, humor: true, epilepsy: true
      }]
    },
    {
      name: 'Chrono Tale',
      resources: [{
        url: 'https://v.example/a.webp', thumb: 'https://v.example/t.png', type: 'static', style: '', author: '', width: 0,
        height: 0, score: 3, nsfw: false, humor: false, epilepsy: false
      }]
    }
  ])
})

t.test('covers with an unsafe address, or a secret in it, are refused', async (t) => {
  shelf.covers = () => [{ name: 'Fine', covers: [{ url: 'https://s.example/a.png', thumb: 'https://s.example/t.png' }] }]
  for (const thumb of ['javascript:alert(1)', 'https://v.example/t.png?key=open%20sesame']) {
    vault.covers = () => [{ name: 'x', covers: [{ url: 'https://v.example/a.png', thumb }] }]
    const answer = await covers('x')
    t.match(answer.json(), [{ name: 'Fine' }])
    t.match(leftOut(answer), [{ provider: 'vault', reason: /failed/ }])
    t.notMatch(answer.body, /sesame/)
  }
})

t.test('a refused key is not reported as the end of a session', async (t) => {
  vault.covers = shelf.covers = () => { throw new CredentialsRefusedError('no') }
  t.match(await covers('x'), { statusCode: 502, body: /Invalid (SHELF, VAULT|VAULT, SHELF) API key/ })
})

t.test('a provider with a spent allowance is skipped, and the answer says until when', async (t) => {
  const resetsAt = Date.UTC(2100, 0, 1)
  let calls = 0
  vault.search = (_term, { http }) => {
    calls++
    http.setAllowance({ name: 'day', remaining: 0, total: 10, resetsAt })
    return [{ id: 5, name: 'The last one' }]
  }
  vault.covers = () => { throw new Error('asked') }
  shelf.search = () => [{ id: 's', name: 'Shelf has it' }]
  t.equal((await search()).json<Result[]>().length, 2)
  const answer = await search()
  t.match(answer.json(), [{ name: 'Shelf has it' }])
  t.same(leftOut(answer), [{ provider: 'vault', code: 'not_called', reason: "its allowance 'day' is used up", until: '2100-01-01T00:00:00+00:00' }])
  t.match(leftOut(await covers('x')), [{ provider: 'vault', until: '2100-01-01T00:00:00+00:00' }])
  t.equal(calls, 1)
})

t.test('without a provider that can search, clients learn that none is enabled', async (t) => {
  const without = await buildScanTest(t, { providers: ['alpha'] })
  await without.put({ 'roms/gb/Game.gb': 'x' })
  await without.scan()
  const { id: romId } = await without.rom('gb', 'Game.gb')
  const ask = async (url: string) => {
    const answer = await without.app.inject({ url, headers: without.admin })
    return [answer.statusCode, answer.json<unknown>()]
  }
  t.same(await ask(`/api/search/roms?rom_id=${romId}`), [500, { detail: 'No metadata providers enabled' }])
  t.same(await ask('/api/search/cover?search_term=x'), [500, { detail: 'No SteamGridDB enabled' }])
})

t.test('a search that no provider can do names each with the reason', async (t) => {
  const lone = await buildScanTest(t, { providers: ['shelf'] })
  await lone.put({ 'roms/my-console/Game.bin': 'x', 'roms/gb/Game.gb': 'x' })
  await lone.scan()
  const ask = async (folder: string, name: string, query = '') => {
    const answer = await lone.app.inject({ url: `/api/search/roms?rom_id=${(await lone.rom(folder, name)).id}${query}`, headers: lone.admin })
    t.same([answer.statusCode, answer.json()], [200, []])
    return leftOut(answer)
  }
  t.match(await ask('my-console', 'Game.bin'), [{ provider: 'shelf', code: 'unknown_platform', reason: /^it does not know the platform 'my-console'; an administrator / }])
  t.match(await ask('gb', 'Game.gb', '&search_term=7&search_by=id'), [{ provider: 'shelf', code: 'no_numbers', reason: /search by name$/ }])
})
