import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { ENTRANCE_PATHS, VIEW_PATHS } from '../../../plugins/console/web/view-paths.ts'
import { type TestApp, buildTestApp, shareTestApp } from '../../support.ts'

/** What browsers send when somebody opens an address. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const fresh = shareTestApp(t)

/** Opens an address as a browser does. */
const open = ({ app }: TestApp, url: string) => app.inject({ url, headers: BROWSER })

/** Returns the addresses of scripts, styles and pictures that a page names. */
const listFiles = (page: string) => [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css|svg))"/g)].map(([, path]) => String(path))

t.test('a browser gets the page at every address that the server does not use', async (t) => {
  const test = await fresh(t)
  for (const url of ['/', '/roms', '/roms/3?tab=saves', '/platforms/snes', '/any/where']) {
    const reply = await open(test, url)
    t.equal(reply.statusCode, 200, url)
    t.match(reply.headers, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache', vary: /Accept/ })
    t.match(reply.body, '<div id="app">')
    t.notOk(url !== '/' && 'set-cookie' in reply.headers, 'a cookie would replace that of the visitor')
  }
  t.match(await test.app.inject({ method: 'HEAD', url: '/roms', headers: BROWSER }), { statusCode: 200, body: '' })
})

t.test('unknown addresses of the API and of files are errors for a browser too', async (t) => {
  const test = await fresh(t)
  for (const url of ['/api/nothing', '/assets/console/gone.js', '/assets/x', '/ws/x', '/netplay/x', '/favicon.ico', '/api']) {
    const reply = await open(test, url)
    t.equal(reply.statusCode, 404, url)
    t.match(reply.headers['content-type'], 'application/json')
  }
  t.equal((await test.app.inject({ method: 'POST', url: '/roms', headers: BROWSER })).statusCode, 404)
  t.match((await open(test, '/api/docs')).body, 'swagger', 'the API documentation stays')
})

t.test('an address that cannot be decoded is a page for a browser and JSON for programs', async (t) => {
  const test = await fresh(t)
  for (const url of ['/%E0%A4%A', '/roms/%zz?tab=saves']) {
    const reply = await open(test, url)
    t.match(reply, { statusCode: 400, body: '<div id="app">' }, url)
    t.match(reply.headers, {
      'content-type': 'text/html; charset=utf-8', vary: 'Accept', 'x-content-type-options': 'nosniff',
      'content-security-policy': /^default-src 'none'/
    })
    const program = await test.app.inject({ url, headers: { accept: '*/*' } })
    t.match(program, { statusCode: 400, headers: { 'content-type': /json/, vary: 'Accept', 'x-content-type-options': 'nosniff' } })
    t.match(program.json(), { detail: /is not percent-encoded/ })
  }
  t.match(await open(test, '/api/%zz'), { statusCode: 400, headers: { 'content-type': /json/ } })
  t.match((await test.app.inject({ method: 'POST', url: '/%zz', headers: BROWSER })).headers['content-type'], /json/)
})

t.test('a program gets JSON at the root and errors elsewhere', async (t) => {
  const test = await fresh(t)
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
    const reply = await test.app.inject({ url: '/', headers })
    t.match(reply.json(), { name: 'svc', api: '/api', documents: { openapi: '/openapi.json', asyncapi: '/asyncapi.json' } })
    t.match(reply.headers.vary, /Accept/)
    for (const url of Object.values(reply.json<{ documents: Record<string, string> }>().documents)) {
      t.equal((await test.app.inject({ url })).statusCode, 200, url)
    }
    t.equal((await test.app.inject({ url: '/roms', headers })).statusCode, 404)
  }
})

t.test('pages of links are views for browsers, and pages of their own for others', async (t) => {
  const test = await fresh(t)
  for (const url of ['/register?token=a', '/reset-password?token=a', '/pair/device?user_code=ABCD']) {
    const view = await open(test, url)
    t.match(view.body, '<div id="app">', url)
    t.match(view.headers, { 'content-type': 'text/html; charset=utf-8', vary: /Accept/ })
    const own = await test.app.inject({ url, headers: { accept: '*/*' } })
    t.equal(own.statusCode, 200)
    t.match(own.body, '<form', url)
  }
  t.match((await open(test, '/pair/device.js')).headers, { 'content-type': /^text\/javascript/ }, 'their files stay')
})

t.test('browsers see on the sign-in page why the OpenID provider signed nobody in', async (t) => {
  const test = await fresh(t)
  for (const url of ['/api/login/openid', '/api/oauth/openid?error=access_denied']) {
    const refused = await test.app.inject({ url })
    t.ok(refused.statusCode >= 400, url)
    const shown = await open(test, url)
    t.match(shown, { statusCode: 303, headers: { location: '/sign-in' }, body: '' })
    const cookie = shown.cookies.find(({ name }) => name === 'svc_sign_in_problem')
    t.match(cookie, { value: refused.json<{ detail: string }>().detail, path: '/', sameSite: 'Lax', maxAge: 60 })
  }
  t.equal((await open(test, '/api/roms')).statusCode, 401, 'other errors stay')
})

t.test('the policy of the page allows only files of this server', async (t) => {
  const test = await fresh(t)
  const reply = await open(test, '/')
  for (const view of [...VIEW_PATHS, ...ENTRANCE_PATHS, 'any/where']) {
    const { headers } = await open(test, `/${view.replaceAll(/:(\w+)\??/g, '1')}`)
    t.equal(headers['content-security-policy'], reply.headers['content-security-policy'], view)
  }
  const policy = String(reply.headers['content-security-policy'])
  t.match(policy, "default-src 'none'")
  t.match(policy, "require-trusted-types-for 'script'")
  t.match(policy, /trusted-types svc-pdf-worker$/, 'the only policy is that of the worker for manuals')
  t.match(policy, "frame-ancestors 'none'")
  t.notMatch(policy, /unsafe|https?:/)
  t.notMatch(reply.body, /<script(?![^>]* src=)|<style| style=| on\w+=/, 'no script or style stands in the page')
  t.notMatch(reply.body, /https?:\/\//, 'nothing of a foreign host')
})

t.test('files of the page are compressed and cached for ever', async (t) => {
  const test = await fresh(t)
  const files = listFiles((await open(test, '/')).body)
  t.ok(files.length >= 3)
  for (const path of files) {
    const url = `/${path}`
    const plain = await test.app.inject({ url })
    t.equal(plain.statusCode, 200, url)
    t.match(plain.headers, { 'cache-control': 'public, max-age=31536000, immutable', vary: /Accept-Encoding/, 'x-content-type-options': 'nosniff' })
    t.notOk('set-cookie' in plain.headers)
    const br = await test.app.inject({ url, headers: { 'accept-encoding': 'gzip, deflate, br' } })
    t.equal(br.headers['content-encoding'], 'br')
    t.equal(brotliDecompressSync(br.rawPayload).toString(), plain.body)
    const gzip = await test.app.inject({ url, headers: { 'accept-encoding': 'gzip' } })
    t.equal(gzip.headers['content-encoding'], 'gzip')
    t.equal(gunzipSync(gzip.rawPayload).toString(), plain.body)
    t.equal((await test.app.inject({ url, headers: { 'accept-encoding': 'unknown' } })).headers['content-encoding'], undefined)
  }
})

t.test('only files of the bundle are served', async (t) => {
  const { app } = await fresh(t)
  for (const name of ['manifest.json', '..%2f..%2fpackage.json', '%2e%2e', 'constructor', '__proto__', 'main.js']) {
    t.equal((await app.inject({ url: `/assets/console/${name}` })).statusCode, 404, name)
  }
})

t.test('below a base path all addresses of the page stay below it', async (t) => {
  const test = await buildTestApp(t, { env: { SVC_BASE_URL: 'https://home.example/games' } })
  const reply = await open(test, '/games/roms/3')
  t.match(reply.body, '<base href="/games/">')
  for (const path of listFiles(reply.body)) {
    t.notMatch(path, /^\//, 'relative to the base')
    t.equal((await test.app.inject({ url: `/games/${path}` })).statusCode, 200)
  }
  t.match((await test.app.inject({ url: '/games/' })).json(), { api: '/games/api' })
  for (const url of ['/games/api/nothing', '/games/assets/console/gone.js', '/games/ws/x']) t.equal((await open(test, url)).statusCode, 404, url)
})

t.test('without the console the server shows no pages', async (t) => {
  const test = await buildTestApp(t, { env: { SVC_CONSOLE_ENABLED: 'false' } })
  t.match((await open(test, '/')).body, '/api/docs')
  t.equal((await open(test, '/roms')).statusCode, 404)
  t.equal((await open(test, '/assets/console/main.js')).statusCode, 404)
})

t.test('the pages of an operator replace the console', async (t) => {
  const pages = await mkdtemp(join(tmpdir(), 'svc-pages-'))
  t.teardown(() => rm(pages, { recursive: true }))
  await writeFile(join(pages, 'index.html'), 'own pages')
  const test = await buildTestApp(t, { env: { SVC_WEB_DIR: pages } })
  for (const url of ['/', '/roms/3']) t.equal((await open(test, url)).body, 'own pages')
})
