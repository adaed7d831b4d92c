import { type TSchema, Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import errorHandler from '../../../core/web/error-handler.ts'
import { NameText, StringEnum } from '../../../core/typebox.ts'
import { createValidatorCompiler } from '../../../core/web/validation.ts'

/** Creates a route that returns its validated input. */
async function echo (t: Pick<Test, 'teardown'>, schema: { querystring?: TSchema, params?: TSchema, body?: TSchema }) {
  const app = fastify()
  t.teardown(() => app.close())
  app.setValidatorCompiler(createValidatorCompiler() as never)
  await app.register(errorHandler)
  app.post('/echo/:id', { schema }, async ({ query, params, body }) => ({ query, params, body }))
  return async (url: string, body?: unknown) => {
    const reply = await app.inject({
      method: 'POST', url, ...(body === undefined ? {} : { payload: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
    })
    return { status: reply.statusCode, ...reply.json() }
  }
}

t.test('a query is converted to the types of its schema', async (t) => {
  const call = await echo(t, {
    querystring: Type.Object({
      limit: Type.Integer({ default: 50, minimum: 1 }),
      ids: Type.Optional(Type.Array(Type.Integer())),
      matched: Type.Optional(Type.Boolean())
    }),
    params: Type.Object({ id: Type.Integer() })
  })
  t.match(await call('/echo/7?limit=20&ids=1&ids=2'), { query: { limit: 20, ids: [1, 2] }, params: { id: 7 } })
  t.match(await call('/echo/7?ids=3'), { query: { limit: 50, ids: [3] } }, 'one value is a list of one')
  t.match(await call('/echo/x'), { status: 422, detail: [{ loc: ['path', 'id'], type: 'type', input: 'x' }] })
  t.match(await call('/echo/1?limit=0'), { status: 422, detail: [{ loc: ['query', 'limit'], type: 'minimum' }] })
})

t.test('the boolean words of clients in queries are converted', async (t) => {
  const call = await echo(t, { querystring: Type.Object({ matched: Type.Boolean() }) })
  const read = async (word: string) => (await call(`/echo/1?matched=${word}`)).query?.matched
  for (const word of ['true', 'True', '1', 'yes', 'on']) t.equal(await read(word), true, word)
  for (const word of ['false', 'FALSE', '0', 'no', 'off']) t.equal(await read(word), false, word)
  t.match(await call('/echo/1?matched=perhaps'), { status: 422, detail: [{ loc: ['query', 'matched'] }] })
})

t.test('a body is not converted to other types', async (t) => {
  const rating = Type.Optional(Type.Union([Type.Integer(), Type.Null()]))
  const call = await echo(t, { body: Type.Object({ rating, name: Type.Optional(Type.String()) }) })
  t.match(await call('/echo/1', { rating: null }), { status: 200, body: { rating: null } })
  t.match(await call('/echo/1', { rating: '5' }), { status: 422 })
  t.match(await call('/echo/1', { name: 5 }), { status: 422, detail: [{ loc: ['body', 'name'], input: 5 }] })
})

t.test('unknown keys of a body are kept if allowed, and named if not', async (t) => {
  const properties = { a: Type.Optional(Type.Integer()) }
  const open = await echo(t, { body: Type.Object(properties) })
  t.match(await open('/echo/1', { a: 1, b: 2 }), { status: 200, body: { a: 1, b: 2 } })
  const closed = await echo(t, { body: Type.Object(properties, { additionalProperties: false }) })
  t.match(await closed('/echo/1', { b: 2, c: 3 }), {
    status: 422,
    detail: [{ loc: ['body', 'b'], msg: "Unknown key 'b'", input: 2 }, { loc: ['body', 'c'], msg: "Unknown key 'c'" }]
  })
})

t.test('a value that is not in an enum is answered with the enum', async (t) => {
  const call = await echo(t, { body: Type.Object({ level: StringEnum(['low', 'high']) }) })
  t.match(await call('/echo/1', { level: 'middle' }), { detail: [{ loc: ['body', 'level'], msg: /: low, high$/, input: 'middle' }] })
})

t.test('a name with direction marks is refused, a name in any script is not', async (t) => {
  const call = await echo(t, { body: Type.Object({ name: NameText() }) })
  for (const code of [0x61C, 0x200E, 0x202E, 0x2066, 0]) {
    t.match(await call('/echo/1', { name: `save${String.fromCodePoint(code)}gpj.exe` }), { status: 422 }, code.toString(16))
  }
  t.match(await call('/echo/1', { name: 'ゲーム שלום 🎮' }), { status: 200 })
})

t.test('schemas with one name are validated separately', async (t) => {
  const first = await echo(t, { body: Type.Object({ a: Type.Integer() }, { $id: 'Same' }) })
  const second = await echo(t, { body: Type.Object({ b: Type.Integer() }, { $id: 'Same' }) })
  t.match(await first('/echo/1', { a: 1 }), { status: 200 })
  t.match(await second('/echo/1', { a: 1 }), { status: 422, detail: [{ loc: ['body', 'b'] }] })
  t.match(await second('/echo/1', { b: 1 }), { status: 200 })
  t.match(await first('/echo/1', { b: 1 }), { status: 422, detail: [{ loc: ['body', 'a'] }] })
})

t.test('the first request does not wait for the check of its own schema', async (t) => {
  const checks = t.capture(Ajv.prototype, 'validateSchema', Ajv.prototype.validateSchema)
  const call = await echo(t, { params: Type.Object({ id: Type.Integer({ maximum: 12 }) }) })
  t.match(await call('/echo/7'), { params: { id: 7 } })
  t.match(await call('/echo/13'), { status: 422 })
  t.equal(checks().length, 0)
})
