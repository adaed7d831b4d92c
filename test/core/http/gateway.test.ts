import t from 'tap'
import { AddressRefusedError } from '../../../core/http/addresses.ts'
import { startClient, startServer } from './server.ts'

t.test('a gateway gets the requests to public hosts, redirects included', async (t) => {
  const gateway = await startServer(t, ({ url }, response) => {
    if (url === '/api.example.com/old?id=1') response.writeHead(302, { location: 'https://cdn.example.com/new?id=1' }).end()
    else response.end(`answer to ${url}`)
  })
  const client = startClient(t, { allowPrivate: false, gateway: `${gateway.url}/`, hosts: ['api.example.com', 'cdn.example.com'] })
  t.equal(await client.text('https://api.example.com/old', { query: { id: 1 } }), 'answer to /cdn.example.com/new?id=1')
  await t.rejects(client.text('https://other.example.com/'), AddressRefusedError, 'declared hosts still count')
  await t.rejects(client.text('http://10.0.0.1/'), AddressRefusedError, 'so does what is private')
  t.equal(gateway.requests.length, 2)
})

t.test('messages name the real host', async (t) => {
  const gateway = await startServer(t, (_request, response) => { response.writeHead(404).end() })
  const client = startClient(t, { allowPrivate: false, gateway: gateway.url })
  await t.rejects(client.text('https://api.example.com/games'), { message: /^GET api\.example\.com\/games answered 404/ })
})

t.test('a trusted address in the local network is requested directly', async (t) => {
  const gateway = await startServer(t, (_request, response) => { response.end('gateway') })
  const own = await startServer(t, ({ url }, response) => { response.end(`own ${url}`) })
  const client = startClient(t, { allowPrivate: false, gateway: gateway.url, trustedOrigins: [own.host] })
  t.equal(await client.text(`${own.url}/games`), 'own /games')
  t.equal(gateway.requests.length, 0)
})

t.test('an address that is trusted later is requested directly too', async (t) => {
  const gateway = await startServer(t, (_request, response) => { response.end('gateway') })
  const own = await startServer(t, ({ url }, response) => { response.end(`own ${url}`) })
  const trustedOrigins: string[] = []
  const client = startClient(t, { allowPrivate: false, gateway: gateway.url, trustedOrigins })
  t.equal(await client.text('https://api.example.com/games'), 'gateway')
  trustedOrigins.push(own.host)
  t.equal(await client.text(`${own.url}/games`), 'own /games')
})
