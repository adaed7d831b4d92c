import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type TestApp, buildTestApp, shareTestApp } from '../../support.ts'

const HASHED = ['index-BHx3kLm9.js', 'index-a_b-C1d2.css', 'core.ruffle.0a1b2c3d4e5f60718293.js']
const PLAIN = ['emulator-controls.js', 'emulator-MainMenu.js', 'loader.js', 'photo-20240101.js']
const BUNDLES = [...HASHED, ...PLAIN]
const PAGE = '<!doctype html><title>Pages</title>'

const folderOf = (t: Pick<Test, 'testdirName'>) => join(t.testdirName, 'data', 'pages')
const PAGES = folderOf(t)
const fresh = shareTestApp(t, { env: { SVC_WEB_DIR: PAGES, SVC_ROMM_NAMES: 'true' } })

/** Writes a folder of pages, and a file beside that folder. */
function writePages (pages: string): void {
  mkdirSync(join(pages, 'assets'), { recursive: true })
  writeFileSync(join(pages, 'index.html'), PAGE)
  writeFileSync(join(pages, 'assets', 'a b%.js'), 'export {}')
  for (const name of BUNDLES) writeFileSync(join(pages, 'assets', name), 'export {}')
  writeFileSync(join(pages, '.env'), 'secret')
  writeFileSync(join(pages, '..', 'secret.txt'), 'secret')
  symlinkSync(join(pages, '..', 'secret.txt'), join(pages, 'link.txt'))
}

/** Returns the shared server, which has a folder of pages made for RomM. */
async function withPages (t: Test): Promise<TestApp> {
  const test = await fresh(t)
  writePages(PAGES)
  return test
}

/** Builds a server with a folder of pages. */
async function buildWithPages (t: Test, env: Record<string, string>): Promise<TestApp> {
  const test = await buildTestApp(t, { env: { SVC_WEB_DIR: folderOf(t), ...env } })
  writePages(folderOf(t))
  return test
}

t.test('a folder of pages is served at all addresses that the server does not use', async (t) => {
  const { app, admin } = await withPages(t)
  for (const url of ['/', '/platform/3', '/rom/5?tab=saves', '/index.html', '/login']) {
    const reply = await app.inject({ url })
    t.equal(reply.statusCode, 200, url)
    t.equal(reply.body, PAGE, url)
    t.match(reply.headers, { 'content-type': /^text\/html/, 'cache-control': 'no-cache' })
    t.equal('set-cookie' in reply.headers, url === '/', url)
  }
  const script = await app.inject({ url: '/assets/a%20b%25.js' })
  t.equal(script.body, 'export {}')
  t.match(script.headers, { 'cache-control': /^public, max-age=3600/, 'x-content-type-options': 'nosniff', etag: /\S/ })
  t.equal((await app.inject({ url: '/assets/a%20b%25.js', headers: { 'if-none-match': String(script.headers.etag) } })).statusCode, 304)
  t.match(await app.inject({ method: 'HEAD', url: '/platform/3' }), { statusCode: 200, body: '' })

  for (const url of ['/api/nothing', '/assets/gone.js', '/ws/x', '/.env']) {
    t.equal((await app.inject({ url })).statusCode, 404, url)
  }
  const artwork = '/assets/romm/resources/roms/1/1/cover/big.png'
  t.equal((await app.inject({ url: artwork })).statusCode, 401, 'artwork is not for guests')
  t.equal((await app.inject({ url: artwork, headers: admin })).statusCode, 404)
  t.equal((await app.inject({ method: 'POST', url: '/platform/3' })).statusCode, 404)
  for (const url of ['/link.txt', '/..%2fsecret.txt', '/%2e%2e/secret.txt', '/%00', '/%']) {
    t.not((await app.inject({ url })).body, 'secret', url)
  }
  t.equal((await app.inject({ url: '/api/users/me', headers: admin })).statusCode, 200, 'the API is where it was')
})

t.test('bundles with a hash in their names are cached forever, other files for an hour', async (t) => {
  const { app } = await withPages(t)
  const cacheOf = async (name: string) => (await app.inject({ url: `/assets/${name}` })).headers['cache-control']
  for (const name of HASHED) t.equal(await cacheOf(name), 'public, max-age=31536000, immutable', name)
  for (const name of PLAIN) t.equal(await cacheOf(name), 'public, max-age=3600, must-revalidate', name)
})

t.test('pages that run emulators are isolated, so that emulators may use threads', async (t) => {
  const { app } = await withPages(t)
  for (const url of ['/rom/5/ejs', '/rom/5/ejs?state=3', '/console/rom/5/play']) {
    t.match((await app.inject({ url })).headers,
      { 'cross-origin-embedder-policy': 'require-corp', 'cross-origin-opener-policy': 'same-origin' }, url)
  }
  for (const url of ['/rom/5', '/rom/5/ruffle', '/console', '/', '/assets/loader.js']) {
    t.notOk('cross-origin-embedder-policy' in (await app.inject({ url })).headers, url)
  }
})

t.test('pages may connect only to other sites that the operator names', async (t) => {
  const connectsTo = (test: TestApp) => test.app.inject({ url: '/' })
    .then(({ headers }) => /connect-src ([^;]*)/.exec(String(headers['content-security-policy']))?.[1])
  const named = await buildWithPages(t, { SVC_WEB_CONNECT_ORIGINS: 'https://api.github.com, wss://relay.example.org:8443' })
  t.equal(await connectsTo(named), "'self' data: blob: https://api.github.com wss://relay.example.org:8443")
  for (const wrong of ['api.github.com', "https://a.example;script-src 'unsafe-inline'", 'https://a.example/path']) {
    await t.rejects(buildTestApp(t, { env: { SVC_WEB_CONNECT_ORIGINS: wrong } }), /SVC_WEB_CONNECT_ORIGINS/, wrong)
  }
})

t.test("devices are approved on RomM's page, or on the server's for other pages", async (t) => {
  const made = await withPages(t)
  t.equal((await made.app.inject({ url: '/pair/device?user_code=ABCD' })).body, PAGE)
  const other = await buildWithPages(t, {})
  const own = await other.app.inject({ url: '/pair/device' })
  t.equal(own.statusCode, 200)
  t.not(own.body, PAGE)
})

t.test('pages made for RomM find their cookies and tokens, and other pages theirs', async (t) => {
  const { app, admin } = await withPages(t)
  const login = await app.inject({ method: 'POST', url: '/api/login', headers: admin })
  const cookies = new Map(login.cookies.map(({ name, value }) => [name, value]))
  t.same([...cookies.keys()].toSorted(), ['romm_csrftoken', 'romm_session', 'svc_csrftoken', 'svc_session'])
  for (const brand of ['romm', 'svc']) {
    const csrf = cookies.get(`${brand}_csrftoken`) ?? ''
    const cookie = `${brand}_session=${cookies.get(`${brand}_session`)}; ${brand}_csrftoken=${csrf}`
    const create = (headers: Record<string, string>) => app.inject({
      method: 'POST', url: '/api/client-tokens', headers: { cookie, ...headers }, payload: { name: brand, scopes: ['me.read'] }
    })
    t.equal((await create({})).statusCode, 403, 'the header has to be there under any name')
    const created = await create({ 'x-csrftoken': csrf })
    t.equal(created.statusCode, 201)
    const { raw_token: token } = created.json()
    t.match(token, /^rmm_[0-9a-f]{64}$/)
    const mine = await app.inject({ url: '/api/users/me', headers: { authorization: `Bearer ${token}` } })
    t.equal(mine.statusCode, 200)
  }
  const all = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const kept = await app.inject({ url: '/api/users/me', headers: { cookie: all } })
  t.same(kept.cookies, [], 'what is valid is not set anew')
  const headers = { cookie: all, 'x-csrftoken': cookies.get('romm_csrftoken') ?? '' }
  const bye = await app.inject({ method: 'POST', url: '/api/logout', headers })
  for (const name of ['romm_session', 'svc_session']) t.match(bye.cookies.find((one) => one.name === name), { value: '' })
})

t.test('without the switch a cookie of that name has no effect', async (t) => {
  const { app, admin } = await buildTestApp(t)
  const login = await app.inject({ method: 'POST', url: '/api/login', headers: admin })
  t.same(login.cookies.map(({ name }) => name).toSorted(), ['svc_csrftoken', 'svc_session'])
  const value = login.cookies.find(({ name }) => name === 'svc_session')?.value
  t.equal((await app.inject({ url: '/api/users/me', headers: { cookie: `romm_session=${value}` } })).statusCode, 401)
})
