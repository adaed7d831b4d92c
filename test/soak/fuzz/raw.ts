import fc, { type Arbitrary } from 'fast-check'

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'CONNECT', 'PROPFIND', 'get', 'G\0T', '', 'PRI']
const TARGETS = ['/api/heartbeat', '/', '*', 'http://evil.invalid/api/heartbeat', '/ws/socket.io/?EIO=4&transport=polling', '/api/roms/%', '/api/roms/%c0%ae',
  '/%00', '//api//heartbeat', '/../../etc/passwd', '/ws/socket.io/?EIO=4&transport=websocket', `/${'a'.repeat(20_000)}`, '/api/export/pegasus',
  '/ws/socket.io/?EIO=4&transport=polling&sid=1.x', '/assets/romm/resources/..%2f..%2fsecret.key', '/api/docs/..%5c', 'api/heartbeat', '']
const VERSIONS = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.1 ', '']
const LINES = ['Host: x', 'Host: x\r\nHost: y', 'Connection: close', 'Connection: keep-alive', 'Connection: Upgrade\r\nUpgrade: h2c',
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Connection: Upgrade\r\nUpgrade: websocket', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked, identity', 'Transfer-Encoding: \vchunked',
  'Content-Length: 5', 'Content-Length: 5\r\nContent-Length: 6', 'Content-Length: -1', 'Content-Length: 99999999999999999999', 'Content-Length: 0x5',
  'Content-Type: application/json', 'Content-Type: multipart/form-data; boundary=x', 'Expect: 100-continue', 'Expect: x', ' folded: x', 'no colon', ': x',
  `X: ${'a'.repeat(20_000)}`, 'X: \0', 'Cookie: svc_session=\x80', 'Range: bytes=0-0', 'X-Forwarded-For: \'"<>', 'Authorization: Basic \xff']
const BODIES = ['', '{}', '5\r\nhello\r\n0\r\n\r\n', '0\r\n\r\n', 'ffffffffffffffff\r\n', '5;ext=x\r\nhello\r\n', '-1\r\n', 'hello', '40', '2probe', '\x81\x85abcdhello',
  '\x88\x80abcd', '\xff\xff\xff\xff', 'GET /api/heartbeat HTTP/1.1\r\nHost: x\r\n\r\n']

const requests = fc.tuple(fc.constantFrom(...METHODS), fc.constantFrom(...TARGETS), fc.constantFrom(...VERSIONS),
  fc.array(fc.constantFrom(...LINES), { maxLength: 5 }), fc.constantFrom(...BODIES), fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r'))
  .map(([method, target, version, lines, body, end]) => [`${method} ${target} ${version}`, ...lines, '', body].join(end))

const noise = fc.uint8Array({ minLength: 1, maxLength: 400 }).map((bytes) => Buffer.from(bytes))

/** Bytes on a connection: requests that are nearly valid, cut off, several at once, or garbage. */
export const rawBytes: Arbitrary<Buffer> = fc.oneof(
  { weight: 6, arbitrary: requests.map((text) => Buffer.from(text, 'latin1')) },
  { weight: 2, arbitrary: fc.tuple(requests, fc.nat()).map(([text, at]) => Buffer.from(text.slice(0, at % (text.length + 1)), 'latin1')) },
  { weight: 2, arbitrary: fc.array(requests, { minLength: 2, maxLength: 4 }).map((texts) => Buffer.from(texts.join(''), 'latin1')) },
  { weight: 1, arbitrary: fc.tuple(requests, noise).map(([text, bytes]) => Buffer.concat([Buffer.from(text, 'latin1'), bytes])) },
  { weight: 1, arbitrary: noise })
