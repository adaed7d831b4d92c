import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { HOST_ID, createHostId } from '../../core/process/host.ts'
import { pickHeaders, rebuildUrl } from '../../core/sockets/forward-request.ts'
import { createLinkServer, sendToHost, splitAddress } from '../../core/sockets/host-link.ts'
import { ownerSocket } from '../../core/sockets/owner-socket.ts'
import { readSocketBody } from '../../core/sockets/request.ts'
import { ownerKey, readOwner } from '../../core/sockets/session-owner.ts'

const PATH = '/games/ws/socket.io'
const HOST = '0123456789abcdef0123'

t.test('a session id names its host, its worker and its process', async (t) => {
  t.same(readOwner(`${PATH}/?EIO=4&transport=polling&sid=${HOST}-3-1ab-0-xyz`, PATH), { hostId: HOST, key: `${HOST}-3-1ab` })
  t.same(readOwner(`${PATH}?sid=${HOST}-12-z-`, PATH), { hostId: HOST, key: `${HOST}-12-z` })
})

t.test('ids of hosts are random', async (t) => {
  const ids = Array.from({ length: 100 }, createHostId)
  t.equal(new Set(ids).size, 100)
  for (const id of ids) t.match(id, new RegExp(`^${HOST_ID}$`))
})

t.test('requests that open a session, or are no socket requests, have no owner', async (t) => {
  for (const url of [`${PATH}/?EIO=4`, `${PATH}/`, `/api/roms?sid=${HOST}-3-1ab-0`, `${PATH}/other?sid=${HOST}-3-1ab-0`, '/', '',
    `${PATH}x/?sid=${HOST}-3-1ab-0`, `${PATH}/?sid=../../1-2-3`, `${PATH}/?sid=${HOST}-1-../x-`, `${PATH}/?sid=${HOST}-99999-a-b`,
    `${PATH}/?sid=3-1ab-0-xyz`, `${PATH}/?sid=${HOST.toUpperCase()}-3-1ab-0`]) {
    t.equal(readOwner(url, PATH), null, url)
  }
})

t.test('any session id gives a local socket inside the folder', async (t) => {
  t.doesNotThrow(() => fc.assert(fc.property(fc.string(), (sid) => {
    const owner = readOwner(`${PATH}/?sid=${encodeURIComponent(sid)}`, PATH)
    return owner === null || /^\/run\/web-[0-9a-f]+-\d+-[0-9a-z]+\.sock$/.test(ownerSocket('/run', owner.key))
  })))
  t.doesNotThrow(() => fc.assert(fc.property(fc.nat(9999), fc.nat(4_000_000), fc.string(), (number, pid, rest) => {
    const key = ownerKey(HOST, number, pid)
    return readOwner(`${PATH}/?sid=${encodeURIComponent(`${key}-${rest}`)}`, PATH)?.key === key
  })))
})

t.test('only the parameters that the transports read are forwarded, once', async (t) => {
  t.equal(rebuildUrl(`${PATH}?EIO=4&x=1&sid=3-1ab-0&transport=polling&sid=4-1ab-0&t=abc`, PATH),
    `${PATH}/?EIO=4&transport=polling&sid=3-1ab-0`)
  t.equal(rebuildUrl(`${PATH}/?sid=3-1-%0d%0aX:%201%20HTTP/1.1`, PATH), `${PATH}/?EIO=&transport=&sid=3-1-%0D%0AX%3A+1+HTTP%2F1.1`)
})

t.test('only listed headers with plain text are forwarded', async (t) => {
  t.same(pickHeaders({
    connection: 'keep-alive, X-Hop', 'x-hop': '1', 'transfer-encoding': 'chunked', 'content-length': '3', cookie: 'a',
    origin: 'https://a.example', 'content-type': 'text/plain\u0001', 'set-cookie': ['a']
  }, ['origin', 'content-type', 'set-cookie', 'accept-encoding']), { origin: 'https://a.example' })
})

t.test('a body that does not arrive in time closes its connection', async (t) => {
  const results: Promise<unknown>[] = []
  const server = createServer((request, response) => {
    const reading = readSocketBody(request, response, request.url === '/slow' ? 50 : undefined)
    results.push(reading.then((body) => { response.end(body) }, (err: Error) => err))
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => { server.close() })
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1').resume()
  socket.write('POST /slow HTTP/1.1\r\nHost: svc\r\nContent-Length: 2\r\n\r\n4')
  await once(socket, 'close')
  t.ok(await results[0] instanceof Error)
  const whole = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '40' })
  t.equal(await whole.text(), '40')
})

t.test('an address is a host and a port, with brackets around IPv6', async (t) => {
  t.same(splitAddress('10.0.0.5:8081'), { host: '10.0.0.5', port: 8081 })
  t.same(splitAddress('web1:443'), { host: 'web1', port: 443 })
  t.same(splitAddress('[fd00::5]:8081'), { host: 'fd00::5', port: 8081 })
})

/** Starts a server for requests of other hosts. @returns its address, and the paths of all requests that reach it */
async function startLink (t: Pick<Test, 'teardown'>, key: Uint8Array) {
  const heard: string[] = []
  const server = createLinkServer(key, (request, response) => {
    heard.push(request.url ?? '')
    response.end('answer')
  })
  await once(server.listen(0, '127.0.0.2'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { address: `127.0.0.2:${(server.address() as AddressInfo).port}`, heard }
}

async function ask (address: string, key: Uint8Array): Promise<number | undefined> {
  const request = sendToHost({ address, key }, { path: '/x' }).end()
  const [answer] = await once(request, 'response') as [{ statusCode?: number, resume (): void }]
  answer.resume()
  return answer.statusCode
}

t.test('a request reaches another host only with the key', async (t) => {
  const key = crypto.getRandomValues(new Uint8Array(32))
  const { address, heard } = await startLink(t, key)
  t.equal(await ask(address, key), 200)
  await t.rejects(ask(address, crypto.getRandomValues(new Uint8Array(32))), /bad record mac|decryption failed|EPROTO|socket hang up/i)
  await t.rejects(fetch(`http://${address}/x`), 'without TLS')
  t.same(heard, ['/x'])
})
