import { HttpStatusError, ServiceDownError, type RequestOptions } from '@svc/plugin-sdk'
import t from 'tap'
import { MockAgent } from 'undici'
import { AddressRefusedError } from '../../../core/http/addresses.ts'
import { createLog, readRequest, startClient, startServer } from './server.ts'

t.test('query, headers and user agent arrive as given', async (t) => {
  const seen: object[] = []
  const server = await startServer(t, ({ url, headers }, response) => {
    seen.push({ url, agent: headers['user-agent'], accept: headers.accept, own: headers['x-own'] })
    response.end('{"ok":true}')
  })
  const client = startClient(t)

  const answer = await client.json(`${server.url}/games?sig=a%20b+c`, {
    query: { name: 'Pokémon & co', page: 2, exact: true, tag: ['a', 'b'], gone: undefined, none: null },
    headers: { 'X-Own': 'yes' }
  })

  t.same(answer, { ok: true })
  t.same(seen, [{
    url: '/games?sig=a%20b+c&name=Pok%C3%A9mon%20%26%20co&page=2&exact=true&tag=a&tag=b',
    agent: 'Svc/1.2.3',
    accept: 'application/json',
    own: 'yes'
  }])
})

t.test('json, form and text bodies are sent with their type', async (t) => {
  const server = await startServer(t, async (request, response) => {
    response.end(JSON.stringify([request.method, request.headers['content-type'] ?? null, await readRequest(request)]))
  })
  const client = startClient(t)
  const post = (options: RequestOptions) => client.json(server.url, { method: 'POST', ...options })

  t.same(await post({ json: { a: 1 } }), ['POST', 'application/json', '{"a":1}'])
  t.same(await post({ form: { a: '1 2', b: 'é' } }), ['POST', 'application/x-www-form-urlencoded', 'a=1+2&b=%C3%A9'])
  t.same(await post({ body: 'fields name;' }), ['POST', null, 'fields name;'])
  t.same(await post({ body: Buffer.from('bytes'), headers: { 'Content-Type': 'x/y' } }), ['POST', 'x/y', 'bytes'])
  await t.rejects(post({ json: 1, body: '1' }), { name: 'TypeError', message: /only one of json, form and body/ })
})

t.test('user name and password of a URL are sent as Basic authorization', async (t) => {
  const server = await startServer(t, (request, response) => response.end(request.headers.authorization))
  const client = startClient(t)
  const login = Buffer.from('me:p@ss%').toString('base64')
  t.equal(await client.text(`http://me:p%40ss%@${server.host}/`), `Basic ${login}`)
})

t.test('text is decoded by its charset', async (t) => {
  const server = await startServer(t, (request, response) => {
    response.setHeader('content-type', `text/plain; charset=${request.url?.slice(1)}`)
    response.end(Buffer.from('Pok\u00e9mon', 'latin1'))
  })
  const client = startClient(t)
  t.equal(await client.text(`${server.url}/ISO-8859-1`), 'Pokémon')
  t.equal(await client.text(`${server.url}/no-such-charset`), 'Pok\ufffdmon')
})

t.test('a status outside 2xx is an error unless it is accepted', async (t) => {
  const server = await startServer(t, (request, response) => {
    response.statusCode = Number(request.url?.slice(1))
    response.end('x'.repeat(5_000))
  })
  const client = startClient(t)

  const answer = await client.request(`${server.url}/404`, { accept: [404] })
  t.equal(answer.status, 404)
  t.equal(answer.bytes.byteLength, 5_000)
  const err = await client.request(`${server.url}/404`).catch((caught: unknown) => caught)
  t.ok(err instanceof HttpStatusError)
  t.match(err, {
    status: 404,
    body: 'x'.repeat(2_000),
    message: `GET ${server.host}/404 answered 404: nothing exists at this address; check the address`
  })
  await t.rejects(client.request(`${server.url}/401`), { status: 401, message: /check the account or key/ })
  await t.rejects(client.request(`${server.url}/304`), { name: 'HttpStatusError', status: 304 })
  await t.rejects(client.request(`${server.url}/500`), { name: 'ServiceDownError', message: /answered 500/ })
})

t.test('a body that is not JSON means ServiceDownError, with its beginning', async (t) => {
  const server = await startServer(t, (_request, response) => response.end(`<html>${'x'.repeat(1_000)}`))
  const client = startClient(t)
  const err = await client.json(server.url).catch((caught: unknown) => caught)
  t.ok(err instanceof ServiceDownError)
  t.match(err, { message: `GET ${server.host}/ answered 200 with '<html>${'x'.repeat(74)}', which is not JSON` })
  t.equal((await client.request(server.url)).status, 200)
})

t.test('a response without a body is empty, whatever its encoding', async (t) => {
  const server = await startServer(t, (request, response) => {
    response.writeHead(request.method === 'DELETE' ? 204 : 200, { 'content-encoding': 'gzip' })
    response.end()
  })
  const client = startClient(t)
  for (const method of ['GET', 'HEAD', 'DELETE'] as const) {
    t.equal((await client.request(server.url, { method })).bytes.byteLength, 0, method)
  }
})

t.test('a local address is refused before anything is sent', async (t) => {
  const server = await startServer(t, (_request, response) => response.end())
  const client = startClient(t, { allowPrivate: false })
  await t.rejects(client.request(server.url), AddressRefusedError)
  await t.rejects(client.request(`http://localhost:${server.port}/`), AddressRefusedError)
  await t.rejects(client.request('file:///etc/passwd'), { message: /use http or https/ })
  t.same(server.requests, [])
})

t.test('an address is trusted by exact host and port', async (t) => {
  const trusted = await startServer(t, (_request, response) => response.end('in'))
  const other = await startServer(t, (_request, response) => response.end('in'))
  const client = startClient(t, { allowPrivate: false, trustedOrigins: [trusted.host] })
  t.equal(await client.text(trusted.url), 'in')
  await t.rejects(client.text(other.url), AddressRefusedError)
  t.same(other.requests, [])
})

t.test('a name with any local address is refused, without a retry', async (t) => {
  const server = await startServer(t, (_request, response) => response.end())
  const lookups: string[] = []
  const resolve = async (name: string) => {
    lookups.push(name)
    return [{ address: '8.8.8.8', family: 4 }, { address: '127.0.0.1', family: 4 }]
  }
  const client = startClient(t, { allowPrivate: false, resolve })
  await t.rejects(client.request(`http://games.example.com:${server.port}/`), AddressRefusedError)
  t.same(lookups, ['games.example.com'])
  t.same(server.requests, [])
})

t.test('the Host header keeps the name if the resolver chooses the address', async (t) => {
  const server = await startServer(t, (request, response) => response.end(request.headers.host))
  const client = startClient(t, {
    allowPrivate: false,
    trustedOrigins: [`nas.lan:${server.port}`],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }]
  })
  t.equal(await client.text(`http://nas.lan:${server.port}/`), `nas.lan:${server.port}`)
})

t.test('an invalid URL is a TypeError without its secrets', async (t) => {
  const client = startClient(t, { secrets: ['hunter2'] })
  await t.rejects(client.request('games/hunter2'), {
    name: 'TypeError', message: "The address 'games/***' is not a complete URL"
  })
  await t.rejects(client.request('http://example.com/', { headers: { 'bad name': 'x' } }), { name: 'TypeError' })
})

t.test('an unreachable service is a ServiceDownError', async (t) => {
  const client = startClient(t)
  await t.rejects(client.request('http://127.0.0.1:1/games'), {
    name: 'ServiceDownError', message: /^GET 127\.0\.0\.1:1\/games failed: connect ECONNREFUSED.*; check that/
  })
})

t.test('cancelling ends the request at once with the caller\'s own reason', async (t) => {
  const cancel = new AbortController()
  const reason = new Error('the scan was cancelled')
  const server = await startServer(t, (_request, response) => {
    response.write('half')
    cancel.abort(reason)
  })
  const client = startClient(t)
  const bound = client.withSignal(cancel.signal)
  t.equal(await bound.request(server.url).catch((caught: unknown) => caught), reason)
  t.equal(await bound.request(server.url).catch((caught: unknown) => caught), reason)
  t.equal(server.requests.length, 1)
})

t.test('closing ends running requests', async (t) => {
  const arrived = Promise.withResolvers<undefined>()
  const server = await startServer(t, () => arrived.resolve(undefined))
  const client = startClient(t, { name: 'igdb' })
  const request = client.request(server.url)
  const rejected = t.rejects(request, { message: "The HTTP client of 'igdb' is closed" })
  await arrived.promise
  await client.close()
  await rejected
})

t.test('every request is logged in one debug line, without secrets', async (t) => {
  const { log, lines } = createLog()
  const server = await startServer(t, (_request, response) => response.end('12345'))
  const client = startClient(t, { log, secrets: ['hunter2', 'p w/d'], now: () => 1_000 })
  await client.request(`${server.url}/bot-hunter2/send`, {
    query: { apikey: 'k', devpassword: 'x', name: 'Zelda', nick: 'p w/d' },
    headers: { authorization: 'Bearer hunter2' }
  })
  t.same(lines, [{
    message: 'request answered',
    fields: {
      method: 'GET',
      host: server.host,
      path: '/bot-***/send?apikey=***&devpassword=***&name=Zelda&nick=***',
      status: 200,
      ms: 0,
      bytes: 5
    }
  }])
})

t.test('messages and quoted bodies mask secrets too', async (t) => {
  const { log, lines } = createLog()
  const server = await startServer(t, (request, response) => {
    response.statusCode = request.url?.startsWith('/json') === true ? 200 : 403
    response.end('the key hunter2 is wrong')
  })
  const client = startClient(t, { log, secrets: ['hunter2'] })
  const failures = [
    await client.request(`${server.url}/hunter2`, { query: { y: 'hunter2' } }).catch((caught: unknown) => caught),
    await client.json(`${server.url}/json`, { query: { token: 'other' } }).catch((caught: unknown) => caught),
    await client.request('http://127.0.0.1:1/hunter2').catch((caught: unknown) => caught)
  ]
  t.match(failures[0], { body: 'the key *** is wrong', message: /\/\*\*\*\?y=\*\*\* answered 403/ })
  t.match(failures[1], { message: /token=\*\*\* answered 200 with 'the key \*\*\* is wrong'/ })
  const shown = JSON.stringify([lines, failures.map((err) => err instanceof Error ? [err.message, err.stack] : null)])
  t.notMatch(shown, /hunter2|other/)
})

t.test('responses can come from a mock, and unknown addresses fail', async (t) => {
  const mock = new MockAgent()
  mock.disableNetConnect()
  mock.get('https://api.example.com').intercept({ path: '/games?id=1' }).reply(200, { name: 'Zelda' })
  const client = startClient(t, { allowPrivate: false, dispatcher: async () => mock })
  t.same(await client.json('https://api.example.com/games', { query: { id: 1 } }), { name: 'Zelda' })
  await t.rejects(client.json('https://api.example.com/other'), { name: 'ServiceDownError', message: /not matched/ })
  await t.rejects(client.json('http://127.0.0.1/'), AddressRefusedError)
})
