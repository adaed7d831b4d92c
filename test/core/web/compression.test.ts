import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { shareTestApp } from '../../support.ts'
import { addRom } from '../../plugins/roms/support.ts'

const fresh = shareTestApp(t)
const LIST = '/api/roms?limit=50&with_rom_id_index=false'

t.test('JSON is compressed for clients that accept it, with the same content', async (t) => {
  const test = await fresh(t)
  await addRom(test, { fs_name: 'a.sfc' })
  const ask = (encoding: string, url = LIST) => test.app.inject({ url, headers: { ...test.admin, 'accept-encoding': encoding } })
  const plain = await ask('identity')
  t.notOk('content-encoding' in plain.headers)
  t.match(plain.headers.vary ?? '', /accept-encoding/i, 'a cache knows that there is another')
  for (const [asked, encoding, unpack] of [
    ['gzip, deflate, br', 'br', brotliDecompressSync], ['gzip', 'gzip', gunzipSync], ['br;q=0, gzip', 'gzip', gunzipSync]
  ] as const) {
    const reply = await ask(asked)
    t.equal(reply.headers['content-encoding'], encoding, asked)
    t.equal(unpack(reply.rawPayload).toString(), plain.body)
    t.equal(Number(reply.headers['content-length']), reply.rawPayload.length)
    t.equal(reply.headers['cache-control'], 'private, no-store')
    t.ok(reply.rawPayload.length < plain.rawPayload.length / 2)
  }
  t.notOk('content-encoding' in (await ask('br', '/api/health')).headers, 'not what is small')
  t.notOk('content-encoding' in (await ask('zstd')).headers, 'nothing else')
  for (const encoding of ['identity', 'br', 'gzip']) {
    t.match((await ask(encoding, '/api/roms')).headers.vary, /^(?!.*accept-encoding.*accept-encoding).*accept-encoding/i, 'said once')
  }
})

t.test('HEAD has the headers of GET without its body', async (t) => {
  const test = await fresh(t)
  await addRom(test, { fs_name: 'a.sfc' })
  const headers = { ...test.admin, 'accept-encoding': 'gzip' }
  const [head, get] = [await test.app.inject({ method: 'HEAD', url: LIST, headers }), await test.app.inject({ url: LIST, headers })]
  t.equal(head.body, '')
  t.equal(head.headers['content-length'], get.headers['content-length'])
})

t.test('content keeps its length, ranges and tag, whatever the client accepts', async (t) => {
  const text = JSON.stringify(Array.from({ length: 1_000 }, (_, n) => n))
  const test = await fresh(t, { library: { roms: { snes: { 'a.json': text } } } })
  const id = await addRom(test, { fs_name: 'a.json', file: { file_size_bytes: text.length } })
  const url = `/api/roms/${id}/content/a.json`
  const whole = await test.app.inject({ url, headers: { ...test.admin, 'accept-encoding': 'br, gzip' } })
  t.equal(whole.statusCode, 200)
  t.notOk('content-encoding' in whole.headers)
  t.equal(whole.body, text)
  t.equal(Number(whole.headers['content-length']), text.length)
  const part = await test.app.inject({ url, headers: { ...test.admin, 'accept-encoding': 'gzip', range: 'bytes=0-1999' } })
  t.equal(part.statusCode, 206)
  t.equal(part.body, text.slice(0, 2_000))
})

t.test('a compressed request body is refused, with the coding that the server reads', async (t) => {
  const { app, admin } = await fresh(t)
  const reply = await app.inject({
    method: 'POST', url: '/api/client-tokens', payload: gzipSync(JSON.stringify({ name: 'x', scopes: ['me.read'] })),
    headers: { ...admin, 'content-type': 'application/json', 'content-encoding': 'gzip' }
  })
  t.match(reply, { statusCode: 415, headers: { 'accept-encoding': 'identity' } })
  t.match(reply.json(), { detail: /Content-Encoding 'gzip'/ })
})
