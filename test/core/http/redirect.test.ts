import type { IncomingHttpHeaders } from 'node:http'
import t from 'tap'
import { AddressRefusedError } from '../../../core/http/addresses.ts'
import { createLog, readRequest, startClient, startServer } from './server.ts'

t.test('a redirect into the local network is refused', async (t) => {
  const inside = ['http://169.254.169.254/latest/meta-data', 'http://[::1]/', 'http://2130706433/', 'http://nas/',
    'http://[::ffff:10.0.0.1]/', 'file:///etc/passwd']
  const server = await startServer(t, (request, response) => {
    response.writeHead(302, { location: inside[Number(request.url?.slice(1))] })
    response.end()
  })
  const client = startClient(t, { allowPrivate: false, trustedOrigins: [server.host] })
  for (const [index, address] of inside.entries()) {
    await t.rejects(client.request(`${server.url}/${index}`), AddressRefusedError, address)
  }
  t.equal(server.requests.length, inside.length)
})

t.test('only the allowed number of redirects is followed', async (t) => {
  const { log, lines } = createLog()
  const server = await startServer(t, ({ url }, response) => {
    const left = Number(url?.slice(1))
    response.writeHead(left === 0 ? 200 : 302, left === 0 ? {} : { location: `/${left - 1}` })
    response.end('arrived')
  })
  const client = startClient(t, { log })
  t.equal(await client.text(`${server.url}/3`), 'arrived')
  t.same(lines.map(({ fields }) => fields['status']), [302, 302, 302, 200])
  await t.rejects(client.text(`${server.url}/4`), { name: 'HttpStatusError', status: 302 })
  await t.rejects(client.text(`${server.url}/1`, { redirects: 0 }), {
    name: 'HttpStatusError', status: 302, message: `GET ${server.host}/1 answered 302: its redirect to '/0' is not followed`
  })
  t.equal((await client.request(`${server.url}/2`, { accept: [302] })).headers['location'], '/1')
})

t.test('credentials are sent only to their own origin', async (t) => {
  const seen: IncomingHttpHeaders[] = []
  const other = await startServer(t, ({ headers }, response) => {
    seen.push(headers)
    response.end()
  })
  const server = await startServer(t, ({ url, headers }, response) => {
    if (url === '/here') seen.push(headers)
    response.writeHead(302, { location: url === '/' ? '/here' : `http://u:p@${other.host}/` })
    response.end()
  })
  const headers = {
    Authorization: 'Bearer abc', Cookie: 'sid=1', 'X-Api-Key': 'abc', 'x-own': 'hunter2!', 'x-client': 'svc'
  }
  await startClient(t, { secrets: ['hunter2'] }).request(server.url, { headers })

  const [same, foreign] = seen
  t.match(same, { authorization: 'Bearer abc', cookie: 'sid=1', 'x-api-key': 'abc', 'x-own': 'hunter2!' })
  t.equal(foreign?.['x-client'], 'svc')
  for (const name of ['authorization', 'cookie', 'x-api-key', 'x-own']) t.notHas(foreign, name)
})

t.test('301, 302 and 303 turn a POST into a GET; 307 and 308 repeat it', async (t) => {
  const server = await startServer(t, async (request, response) => {
    const status = Number(request.url?.slice(1))
    if (status === 0) {
      response.end(JSON.stringify([request.method, request.headers['content-type'] ?? null, await readRequest(request)]))
    } else response.writeHead(status, { location: '/0' }).end()
  })
  const client = startClient(t)
  const answers = await Promise.all([301, 302, 303, 307, 308].map((status) =>
    client.json(`${server.url}/${status}`, { method: 'POST', json: 1 })))
  const asGet = ['GET', null, '']
  const asPost = ['POST', 'application/json', '1']
  t.same(answers, [asGet, asGet, asGet, asPost, asPost])
})

t.test('a body is never sent to another origin', async (t) => {
  const other = await startServer(t, (_request, response) => response.end())
  const server = await startServer(t, (_request, response) => response.writeHead(307, { location: other.url }).end())
  const client = startClient(t)
  await t.rejects(client.request(server.url, { method: 'POST', form: { client_secret: 'x' } }), {
    status: 307, message: /its redirect to '127\.0\.0\.1:\d+\/' is not followed/
  })
  t.same(other.requests, [])
})

t.test('a redirect without a usable target is an error', async (t) => {
  const server = await startServer(t, ({ url }, response) =>
    response.writeHead(302, url === '/' ? {} : { location: 'http://' }).end())
  const client = startClient(t)
  await t.rejects(client.request(`${server.url}/`), { name: 'HttpStatusError', status: 302 })
  await t.rejects(client.request(`${server.url}/bad`), { name: 'HttpStatusError', status: 302 })
})

t.test('the secrets in the target of a redirect are masked', async (t) => {
  const server = await startServer(t, (_request, response) =>
    response.writeHead(302, { location: 'https://u:p@cdn.example.com/a?token=abc&size=1' }).end())
  await t.rejects(startClient(t).request(server.url, { redirects: 0 }), {
    message: /its redirect to 'cdn\.example\.com\/a\?token=\*\*\*&size=1' is not followed/
  })
})
