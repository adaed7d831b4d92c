import { gunzipSync } from 'node:zlib'
import fastify from 'fastify'
import fc from 'fast-check'
import t from 'tap'
import { CachedText, type JsonPieces, sendPieces } from '../../../core/web/cached-text.ts'

const textOf = (pieces: JsonPieces) =>
  pieces.map((piece) => String(piece instanceof CachedText ? piece.bytes : piece)).join('')

function createServer (pieces: JsonPieces) {
  const app = fastify()
  app.get('/', (request, reply) => sendPieces(request, reply, pieces))
  return app
}

const digits = (from: number, count: number) => Array.from({ length: count }, (_none, index) => from + index).join()

t.test('a long response has all pieces and its length, plain and in one gzip file', async (t) => {
  const pieces = ['[', Buffer.from('7,'), ...[0, 1, 2, 3].map((part) => new CachedText(digits(part * 20_000, 20_000), { isDigits: true })), ']']
  const text = textOf(pieces)
  const app = createServer(pieces)
  for (const encoding of ['identity', 'gzip']) {
    const request = { url: '/', headers: { 'accept-encoding': encoding } }
    const { headers, rawPayload: bytes } = await app.inject(request)
    t.equal(headers['content-length'], String(bytes.length))
    t.ok((encoding === 'gzip' ? gunzipSync(bytes) : bytes).toString() === text, encoding)
    const head = await app.inject({ ...request, method: 'HEAD' })
    t.equal(head.headers['content-length'], String(bytes.length))
    t.equal(head.rawPayload.length, 0)
  }
  await app.close()
})

t.test('a deflated text keeps no more memory than its bytes', async (t) => {
  const deflated = await new CachedText(digits(0, 1_024), { isDigits: true }).deflated()
  t.equal(deflated.buffer.byteLength, deflated.length)
})

const PIECE = fc.tuple(fc.nat(9), fc.nat(30_000), fc.constantFrom('plain', 'text', 'digits'))

t.test('pieces of any number and length give their text', async () => {
  await fc.assert(fc.asyncProperty(fc.array(PIECE, { maxLength: 8 }), async (all) => {
    const pieces = all.map(([digit, length, kind]) => {
      const text = String(digit).repeat(length)
      return kind === 'plain' ? text : new CachedText(text, { isDigits: kind === 'digits' })
    })
    const app = createServer(pieces)
    const { rawPayload: bytes } = await app.inject({ url: '/', headers: { 'accept-encoding': 'gzip' } })
    await app.close()
    return gunzipSync(bytes).toString() === textOf(pieces)
  }), { numRuns: 30 })
})
