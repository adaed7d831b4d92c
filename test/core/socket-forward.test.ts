import fc from 'fast-check'
import t from 'tap'
import { pickHeaders, readOwner, rebuildUrl } from '../../core/sockets/forward-sessions.ts'
import { ownerSocket } from '../../core/sockets/owner-socket.ts'

const PATH = '/games/ws/socket.io'

t.test('a session id names its worker and its process', async (t) => {
  t.equal(readOwner(`${PATH}/?EIO=4&transport=polling&sid=3-1ab-0-xyz`, PATH), '3-1ab')
  t.equal(readOwner(`${PATH}?sid=12-z-`, PATH), '12-z')
})

t.test('requests that open a session, or are no socket requests, have no owner', async (t) => {
  for (const url of [`${PATH}/?EIO=4`, `${PATH}/`, '/api/roms?sid=3-1ab-0', `${PATH}/other?sid=3-1ab-0`, '/', '',
    `${PATH}x/?sid=3-1ab-0`, `${PATH}/?sid=../../1-2-3`, `${PATH}/?sid=1-../x-`, `${PATH}/?sid=99999-a-b`]) {
    t.equal(readOwner(url, PATH), null, url)
  }
})

t.test('any session id gives a local socket inside the folder', async (t) => {
  t.doesNotThrow(() => fc.assert(fc.property(fc.string(), (sid) => {
    const owner = readOwner(`${PATH}/?sid=${encodeURIComponent(sid)}`, PATH)
    return owner === null || /^\/run\/web-\d+-[0-9a-z]+\.sock$/.test(ownerSocket('/run', owner))
  })))
  t.doesNotThrow(() => fc.assert(fc.property(fc.nat(9999), fc.nat(4_000_000), fc.string(), (number, pid, rest) => {
    const owner = `${number}-${pid.toString(36)}`
    return readOwner(`${PATH}/?sid=${encodeURIComponent(`${owner}-${rest}`)}`, PATH) === owner
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
