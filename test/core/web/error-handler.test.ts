import { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import errorHandler from '../../../core/web/error-handler.ts'
import refuseClosing from '../../../core/web/refuse-closing.ts'
import { ApiError, conflict, invalid, notFound } from '../../../core/errors.ts'

async function build (t: Pick<Test, 'teardown'>) {
  const app = fastify({ bodyLimit: 100 })
  t.teardown(() => app.close())
  await app.register(errorHandler)
  return app
}

t.test('an expected failure is answered with its status and message', async (t) => {
  const app = await build(t)
  app.get('/gone', async () => { throw notFound("ROM with ID '7' not found") })
  app.get('/taken', async () => { throw conflict('A scan is running') })
  app.get('/who', async () => { throw new ApiError('NOT_AUTHENTICATED') })
  app.get('/slow', async () => { throw new ApiError('TOO_MANY_REQUESTS', undefined, { retryAfterSeconds: 30 }) })
  app.get('/field', async () => { throw invalid(['query', 'order_by'], 'Unknown column', 'x') })

  const gone = await app.inject({ url: '/gone' })
  t.same([gone.statusCode, gone.json()], [404, { detail: "ROM with ID '7' not found" }])
  t.equal((await app.inject({ url: '/taken' })).statusCode, 409)
  const who = await app.inject({ url: '/who' })
  t.equal(who.headers['www-authenticate'], 'Bearer')
  t.equal((await app.inject({ url: '/slow' })).headers['retry-after'], '30')
  const field = await app.inject({ url: '/field' })
  t.same([field.statusCode, field.json()],
    [422, { detail: [{ loc: ['query', 'order_by'], msg: 'Unknown column', type: 'value_error', input: 'x' }] }])
})

t.test('an error is sent although its route answers the same status with another body', async (t) => {
  const app = await build(t)
  const schema = { response: { 503: Type.Object({ status: Type.String() }) } }
  app.get('/ready', { schema }, async () => { throw new ApiError('UNAVAILABLE', 'The database is not ready; try again') })
  const reply = await app.inject({ url: '/ready' })
  t.same([reply.statusCode, reply.json()], [503, { detail: 'The database is not ready; try again' }])
  t.equal(reply.headers['content-type'], 'application/json; charset=utf-8')
})

t.test('a stream that fails before its first byte is answered like other failures', async (t) => {
  const app = await build(t)
  app.get('/file', async (_request, reply) => reply.type('application/zip').headers({
    'content-length': 5, etag: '"x"', 'cache-control': 'private, no-cache', 'content-disposition': 'attachment'
  }).send(new Readable({ read () { this.destroy(notFound('File not found')) } })))
  app.get('/range', async (_request, reply) => {
    reply.header('content-range', 'bytes */5')
    throw new ApiError('RANGE_NOT_SATISFIABLE')
  })
  const reply = await app.inject({ url: '/file' })
  t.same([reply.statusCode, reply.body], [404, JSON.stringify({ detail: 'File not found' })])
  t.match(reply.headers, { 'content-type': 'application/json; charset=utf-8', 'content-length': String(reply.body.length) })
  for (const name of ['etag', 'cache-control', 'content-disposition']) t.equal(reply.headers[name], undefined, name)
  t.equal((await app.inject({ url: '/range' })).headers['content-range'], 'bytes */5')
})

t.test('a client that disconnects is not logged as a failure of the database', async (t) => {
  const lines: string[] = []
  const app = fastify({ logger: { level: 'warn', stream: { write: (line) => { lines.push(line) } } } })
  t.teardown(() => app.close())
  await app.register(errorHandler)
  const reset = () => Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
  app.put('/file', async ({ raw }) => {
    const err = reset()
    Object.defineProperty(raw, 'errored', { value: err })
    throw err
  })
  app.put('/database', async () => { throw reset() })
  t.equal((await app.inject({ method: 'PUT', url: '/file' })).statusCode, 400)
  t.same(lines, [])
  t.equal((await app.inject({ method: 'PUT', url: '/database' })).statusCode, 503)
  t.equal(lines.length, 1)
})

t.test('every 503 has a Retry-After header', async (t) => {
  const app = await build(t)
  app.get('/away', async () => { throw new ApiError('UNAVAILABLE') })
  app.get('/soon', async () => { throw new ApiError('UNAVAILABLE', undefined, { retryAfterSeconds: 2 }) })
  app.get('/framework', async () => { throw Object.assign(new Error('Server is closing'), { statusCode: 503 }) })
  app.get('/answer', async (_request, reply) => reply.code(503).send({ status: 'failed' }))
  const waits = await Promise.all(['/away', '/soon', '/framework', '/answer'].map(async (url) => {
    const { statusCode, headers } = await app.inject({ url })
    return [statusCode, headers['retry-after']]
  }))
  t.same(waits, [[503, '10'], [503, '2'], [503, '10'], [503, '10']])
})

t.test('a failure of the disk is answered with its reason and remedy, without a path', async (t) => {
  const app = await build(t)
  app.get('/:code', async (request) => {
    const { code } = request.params as { code: string }
    throw Object.assign(new Error(`${code}: open '/srv/secret'`), { code, syscall: 'open', path: '/srv/secret' })
  })
  const expected: [string, number, RegExp][] = [
    ['ENOSPC', 507, /is full; free some space/], ['EDQUOT', 507, /quota .* raise the quota/], ['EROFS', 503, /read-only; mount it writable/],
    ['EIO', 503, /check the disk/], ['EMFILE', 503, /too many open files .* raise the limit/], ['EISDIR', 500, /^Internal Server Error/]
  ]
  for (const [code, status, detail] of expected) {
    const reply = await app.inject({ url: `/${code}` })
    t.match([reply.statusCode, reply.json()], [status, { detail }])
    t.notMatch(reply.body, 'secret')
  }
})

t.test('an unexpected failure tells the client only its request id', async (t) => {
  const app = await build(t)
  app.get('/bug', async () => { throw new Error('password of the database: hunter2') })
  const reply = await app.inject({ url: '/bug' })
  t.equal(reply.statusCode, 500)
  t.match(reply.json(), { detail: /^Internal Server Error \(request .+\)$/ })
  t.notMatch(reply.body, 'hunter2')
})

t.test('a wrong input is answered with its place, rule and value', async (t) => {
  const app = await build(t)
  const body = Type.Object({ roms: Type.Array(Type.Object({ rom_id: Type.Integer() })), 'a/b': Type.Optional(Type.Integer()) })
  app.post('/body', { schema: { body } }, async () => null)
  const call = async (payload: object) => (await app.inject({ method: 'POST', url: '/body', payload })).json().detail
  t.match(await call({ roms: [{ rom_id: 1 }, { rom_id: 'x' }] }), [{ loc: ['body', 'roms', 1, 'rom_id'], type: 'type', input: 'x' }])
  t.same(await call({}), [{ loc: ['body', 'roms'], type: 'required', msg: "'roms' is required" }])
  t.match(await call({ roms: [], 'a/b': 'x' }), [{ loc: ['body', 'a/b'] }], 'a slash in a key is part of the key')
})

t.test('a deeply nested value is refused like any other', async (t) => {
  const app = fastify({ bodyLimit: 1_000_000 })
  t.teardown(() => app.close())
  await app.register(errorHandler)
  app.post('/', { schema: { body: Type.Object({ name: Type.String() }) } }, async () => ({}))
  const deep = `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const reply = await app.inject({ method: 'POST', url: '/', headers: { 'content-type': 'application/json' }, payload: deep })
  t.equal(reply.statusCode, 422)
  t.match(reply.json(), { detail: [{ loc: ['body', 'name'], type: 'type' }] })
})

t.test('a body that is no JSON, too large or of an unknown type is refused', async (t) => {
  const app = await build(t)
  app.post('/body', { schema: { body: Type.Object({}) } }, async () => null)
  const call = (payload: string, type = 'application/json') =>
    app.inject({ method: 'POST', url: '/body', payload, headers: { 'content-type': type } })
  const broken = await call('{ "a": ')
  t.equal(broken.statusCode, 422)
  t.match(broken.json(), { detail: [{ type: 'json_invalid', loc: ['body'] }] })
  t.equal((await call(JSON.stringify({ a: 'x'.repeat(200) }))).statusCode, 413)
  const odd = await call('<a/>', 'application/xml')
  t.equal(odd.statusCode, 415)
  t.match(odd.json().detail, /\S/)
})

t.test('an unknown address or method has the exact texts that apps expect', async (t) => {
  const app = await build(t)
  app.route({ method: ['GET', 'DELETE'], url: '/api/roms/:id', handler: async () => null })
  app.options('*', async () => null)
  const call = async (method: 'GET' | 'PUT' | 'OPTIONS', url: string) => {
    const reply = await app.inject({ method, url })
    return [reply.statusCode, reply.headers.allow, reply.body]
  }
  const notFound = [404, undefined, '{"detail":"Not Found"}']
  t.same(await call('GET', '/api/nowhere?token=secret'), notFound)
  t.same(await call('PUT', '/api/nowhere'), notFound, 'that any address may be asked for with OPTIONS makes none known')
  t.same(await call('GET', '/api/roms'), notFound)
  const notAllowed = [405, 'DELETE, GET, HEAD', '{"detail":"Method Not Allowed"}']
  t.same(await call('PUT', '/api/roms/7?a=b'), notAllowed)
  t.same(await call('PUT', `/api/roms/${'x'.repeat(150)}`), notFound)
})

t.test('a request to a closing process is answered 503 with the time to retry', async (t) => {
  const app = fastify({ return503OnClosing: false })
  t.teardown(() => app.close())
  await app.register(errorHandler)
  await app.register(refuseClosing)
  app.get('/here', async () => 'here')
  const answers: Response[] = []
  let url = ''
  app.addHook('preClose', async () => { answers.push(await fetch(url)) })
  url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/here`
  t.equal((await fetch(url)).status, 200)
  await app.close()
  t.same(answers.map(({ status, headers }) => [status, headers.get('retry-after'), headers.get('connection')]), [[503, '2', 'close']])
  t.match(await answers[0]?.json(), { detail: /is closing; try again/ })
})
