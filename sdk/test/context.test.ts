import t from 'tap'
import { HttpStatusError, RateLimitedError, ServiceDownError, Type, defineProvider } from '../src/index.ts'
import { createContext, createExportGame, createPluginContext, createRom, loadResponses } from '../src/testing/index.ts'

const BASE = 'https://games.example'

t.test('a planned response matches by method, URL, query and body', async (t) => {
  const { http, requests } = createContext({
    responses: [
      { url: `${BASE}/a?page=2`, json: 'page 2' },
      { url: `${BASE}/a`, query: { page: 1 }, json: 'page 1' },
      { url: `${BASE}/a`, json: 'any page' },
      { url: `${BASE}/b/*`, json: 'wildcard' },
      { url: /\/c$/, json: 'pattern' },
      { method: 'POST', url: `${BASE}/d`, body: 'fields name', json: 'text body' },
      { method: 'POST', url: `${BASE}/d`, body: { a: [1] }, json: 'json body' },
      { method: 'POST', url: `${BASE}/d`, body: { a: 'x y' }, json: 'form body' },
      { method: 'POST', url: `${BASE}/d`, body: (body) => body.length === 3, json: 'function' },
      { method: 'POST', url: `${BASE}/d`, body: /^z+$/, json: 'expression' }
    ]
  })
  t.equal(await http.json(`${BASE}/a`, { query: { page: 2, x: ['1', '2'], none: undefined, nil: null } }), 'page 2')
  t.equal(await http.json(`${BASE}/a?page=1`), 'page 1')
  t.equal(await http.json(`${BASE}/a`), 'any page')
  t.equal(await http.json(`${BASE}/b/1/2`), 'wildcard')
  t.equal(await http.json(`${BASE}/c`), 'pattern')
  const post = (body: object) => http.json(`${BASE}/d`, { method: 'POST', ...body })
  t.equal(await post({ body: 'fields name;' }), 'text body')
  t.equal(await post({ json: { a: [1] } }), 'json body')
  t.equal(await post({ form: { a: 'x y' } }), 'form body')
  t.equal(await post({ body: new Uint8Array([97, 98, 99]) }), 'function')
  t.equal(await post({ body: 'zzzz' }), 'expression')
  t.equal(requests[0]?.url, `${BASE}/a?page=2&x=1&x=2`)
  t.equal(requests.length, 10)
})

t.test('a response with times is used that many times and no more', async (t) => {
  const { http } = createContext({ responses: [{ url: BASE, text: 'first', times: 1 }, { url: BASE, text: 'then' }] })
  t.same([await http.text(BASE), await http.text(BASE), await http.text(BASE)], ['first', 'then', 'then'])
})

t.test('an unplanned request is an error that names the request and the plans', async (t) => {
  const ctx = createContext({ responses: [{ url: `${BASE}/a`, json: 1 }] })
  await t.rejects(ctx.http.request(`${BASE}/b?x=1`, { method: 'POST', body: 'hello' }),
    /No response is planned for POST https:\/\/games\.example\/b\?x=1\nwith the body hello\nPlanned are:\n {2}any method .*\/a\n/)
  t.equal(ctx.unplanned.length, 1)
})

t.test('an unplanned request that the plugin swallowed still fails the test', async (t) => {
  const checks: (() => void)[] = []
  const ctx = createContext({ t: { after: (check) => checks.push(check) } })
  await ctx.http.request(BASE).catch(() => null)
  t.throws(() => { checks.forEach((check) => { check() }) }, /No response is planned/)
})

t.test('statuses, broken bodies and sizes cause the same errors as in the host', async (t) => {
  const { http } = createContext({
    responses: [
      { url: `${BASE}/429`, status: 429, headers: { 'Retry-After': '7' } },
      { url: `${BASE}/503`, status: 503 },
      { url: `${BASE}/404`, status: 404, text: 'gone' },
      { url: `${BASE}/html`, text: '<html>' },
      { url: `${BASE}/large`, bytes: new Uint8Array(11) },
      { url: `${BASE}/timeout`, error: 'timeout' },
      { url: `${BASE}/connection`, error: 'connection' }
    ]
  })
  const fails = async (path: string, options = {}) => {
    try {
      await http.json(`${BASE}/${path}`, options)
    } catch (err) {
      return err
    }
    return null
  }
  const limited = await fails('429')
  t.ok(limited instanceof RateLimitedError)
  t.match(limited, { retryAfterMs: 7000 })
  const missing = await fails('404')
  t.ok(missing instanceof HttpStatusError)
  t.match(missing, { status: 404, body: 'gone' })
  for (const path of ['503', 'html', 'timeout', 'connection']) t.ok(await fails(path) instanceof ServiceDownError, path)
  t.ok(await fails('large', { maxBytes: 10 }) instanceof ServiceDownError)
  t.equal((await http.request(`${BASE}/404`, { accept: [404] })).status, 404)
  t.equal((await http.request(`${BASE}/large`, { maxBytes: 10, truncate: true })).bytes.length, 10)
})

t.test('a cacheable response is requested once', async (t) => {
  const { http, requests } = createContext({ responses: [{ url: BASE, json: 1 }] })
  const ask = async () => (await http.request(BASE, { cacheMs: 1000 })).isReused
  t.equal(await ask(), false)
  t.equal(await ask(), true, 'and says that it was kept')
  t.equal(requests.length, 1)
})

t.test('a response about the state of the service is not cached', async (t) => {
  const { http } = createContext({ responses: [{ url: BASE, status: 401, times: 1 }, { url: BASE, json: 1 }] })
  const ask = async () => (await http.request(BASE, { cacheMs: 1000, accept: [401] })).status
  t.same([await ask(), await ask()], [401, 200])
})

t.test('a plugin that requests without end is stopped', async (t) => {
  const { http } = createContext({ responses: [{ url: '*', json: [] }] })
  await t.rejects(async () => {
    for (;;) await http.json(BASE)
  }, /more than 1000 requests/)
})

t.test('a fixture folder holds responses in JSON files, with bodies beside them', async (t) => {
  const folder = t.testdir({
    'a.json': JSON.stringify([{ url: `${BASE}/a`, json: { id: 1 } }]),
    'b.json': JSON.stringify({ url: `${BASE}/b`, file: 'b.xml' }),
    'b.xml': '<b/>'
  })
  const { http } = createContext({ responses: folder })
  t.same(await http.json(`${BASE}/a`), { id: 1 })
  t.equal(await http.text(`${BASE}/b`), '<b/>')
  t.throws(() => loadResponses(t.testdir({ 'a.json': '{}' })), /needs a text "url"/)
  t.throws(() => loadResponses(t.testdir({ 'a.json': '{' })), /a\.json is not JSON/)
})

t.test('only the given files exist', async (t) => {
  const { files } = createContext({ files: { 'roms/snes/a.xml': 'é', 'roms/snes/art/b.png': '', 'roms/c': '' } })
  t.equal(await files.readText('roms/snes/a.xml'), 'é')
  t.equal(await files.readText('roms/snes'), undefined)
  t.match(await files.list('roms/snes'), [
    { name: 'a.xml', kind: 'file', size: 2, mtime: Number }, { name: 'art', kind: 'folder', size: 0, mtime: Number }
  ])
  t.same(await files.list('nowhere'), [])
  t.equal(await files.exists('roms/snes'), true)
  t.equal(await files.exists('roms/s'), false)
  await t.rejects(files.readText('roms/snes/a.xml', 1), /has 2 bytes/)
  for (const path of ['/etc/passwd', '../x', 'roms/../../x', 'roms\\x']) await t.rejects(files.readText(path), /leaves/)
})

t.test('the cache stores JSON for its lifetime', async (t) => {
  const { cache } = createContext()
  await cache.set('a', { list: [1], gone: undefined })
  t.same(await cache.get('a'), { list: [1] })
  await cache.set('b', 1, 0)
  t.equal(await cache.get('b'), undefined)
  await cache.delete('a')
  t.equal(await cache.get('a'), undefined)
})

t.test('memo shares one promise and does not cache a rejection', async (t) => {
  const ctx = createContext()
  let calls = 0
  const create = async () => { if (++calls === 1) throw new Error('down'); return calls }
  const both = await Promise.allSettled([ctx.memo('k', create), ctx.memo('k', create)])
  t.same(both.map((one) => one.status), ['rejected', 'rejected'])
  t.same(await Promise.all([ctx.memo('k', create), ctx.memo('k', create)]), [2, 2])
})

t.test('every part of an aborted context rejects with the reason', async (t) => {
  const reason = new Error('cancelled')
  const ctx = createContext({ signal: AbortSignal.abort(reason), responses: [{ url: '*' }] })
  const { http, files, cache } = ctx
  const calls = [http.request(BASE), files.list(''), files.readText('a'), files.exists('a'), cache.get('a'),
    cache.set('a', 1), cache.delete('a'), ctx.memo('a', async () => 1)]
  for (const { status, ...rest } of await Promise.allSettled(calls)) {
    t.equal(status, 'rejected')
    t.same(rest, { reason })
  }
})

t.test('a plugin\'s configuration is checked and gets its defaults', async (t) => {
  const plugin = defineProvider({
    key: 'demo',
    name: 'Demo',
    id: 'string',
    config: Type.Object({ size: Type.Integer({ default: 3 }), key: Type.String({ minLength: 1 }) }),
    identify: async () => undefined
  })
  t.same(createPluginContext(plugin, { config: { key: 'k' } }).config, { size: 3, key: 'k' })
  t.throws(() => createPluginContext(plugin, { config: { key: '' } }), /\/key must NOT have fewer than 1 characters; it is ""/)
  t.throws(() => createPluginContext(plugin), /must have required property 'key'/)
})

t.test('createRom returns a complete ROM with names from its file name', async (t) => {
  t.match(createRom({ fs_name: 'Harbor (USA).tar.gz', sha1_hash: 'ab', platform: { slug: 'nes' } }), {
    fs_name_no_tags: 'Harbor',
    fs_extension: 'gz',
    fs_path: 'roms/nes',
    platform: { slug: 'nes', fs_slug: 'nes', fs_path: 'roms/nes', ids: [] },
    files: [{ file_name: 'Harbor (USA).tar.gz', file_path: 'roms/nes', sha1_hash: 'ab', is_top_level: true }]
  })
  t.match(createExportGame({ fs_name: 'Harbor (USA).sfc' }), { path: 'Harbor (USA).sfc', name: 'Harbor' })
})
