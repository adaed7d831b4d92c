import fastify from 'fastify'
import t from 'tap'
import errorHandler from '../../../core/web/error-handler.ts'
import jsonDepth from '../../../core/web/json-depth.ts'
import refuseNul from '../../../core/web/refuse-nul.ts'

t.test('a text with NUL is refused with its place, anywhere in a request', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(errorHandler)
  await app.register(jsonDepth)
  await app.register(refuseNul)
  app.post('/:name', async () => null)
  const send = async (url: string, body = '{}') => (await app.inject({
    method: 'POST', url, headers: { 'content-type': 'application/json' }, payload: body
  }))
  const cases: [string, string | undefined, (string | number)[]][] = [
    ['/a%00', undefined, ['path', 'name']],
    ['/a?slug=b%00', undefined, ['query', 'slug']],
    ['/a?slug=b&slug=%00', undefined, ['query', 'slug', 1]],
    ['/a', '{"a":[{"b":"\\u0000"}]}', ['body', 'a', 0, 'b']],
    ['/a', '["x","\\u0000"]', ['body', 1]],
    ['/a', '{"\\u0000":1}', ['body', '\0']]
  ]
  for (const [url, body, loc] of cases) {
    const reply = await send(url, body)
    t.equal(reply.statusCode, 422, url)
    const [line] = reply.json<{ detail: { loc: unknown[], type: string, msg: string }[] }>().detail
    t.match(line, { type: 'nul', msg: /NUL/ })
    t.same(line?.loc, loc)
  }
  const deep = await send('/a', `${'['.repeat(50_000)}"\\u0000"${']'.repeat(50_000)}`)
  t.match(deep.json(), { detail: [{ type: 'too_deep', loc: ['body'] }] }, 'nothing looks into a body nested so deep')
  for (const body of ['{"a":"\\\\u0000"}', '[[],{},null,1,"x"]', 'null']) t.equal((await send('/a', body)).statusCode, 200, body)
})
