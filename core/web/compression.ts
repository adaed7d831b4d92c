import { type Readable, pipeline } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createGzip, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

/** Below this size the additional headers cost as much as compression saves. */
const THRESHOLD_BYTES = 1_024
/**
 * brotli compresses a list of 50 in 2 ms at this quality; its best quality takes ten times as long for a tenth less.
 */
const BROTLI_QUALITY = 4
const GZIP_LEVEL = 4

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

/** Compresses in zlib's threads, while other requests continue. The first encodings are preferred. */
const ENCODINGS: Readonly<Record<string, (text: string | Buffer) => Promise<Buffer>>> = {
  br: (text) => toBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (text) => toGzip(text, { level: GZIP_LEVEL })
}
const NAMES = Object.keys(ENCODINGS)

const isJson = (reply: FastifyReply) => String(reply.getHeader('content-type')).startsWith('application/json')

/** Tells caches that the response depends on the accepted encodings. */
export function vary (reply: FastifyReply): void {
  const others = String(reply.getHeader('vary') ?? '')
  if (others.includes('Accept-Encoding')) return
  reply.header('vary', others === '' ? 'Accept-Encoding' : `${others}, Accept-Encoding`)
}

/** Returns the encoding that a client prefers among some; null if it accepts none of them. */
export function negotiateEncoding ({ headers }: FastifyRequest, encodings: string[]): string | null {
  const accepted = headers['accept-encoding']
  return typeof accepted === 'string' ? negotiate(accepted, encodings) : null
}

/** Sends a text of any length. It is compressed while it is sent, for clients that accept gzip. */
export function sendStream (request: FastifyRequest, reply: FastifyReply, text: Readable): FastifyReply {
  vary(reply)
  if (negotiateEncoding(request, ['gzip']) === null) return reply.send(text)
  // The pipeline ends the text when the client leaves; the reply handles failures of the compressed stream.
  return reply.header('content-encoding', 'gzip').send(pipeline(text, createGzip({ level: GZIP_LEVEL }), () => {}))
}

/**
 * Compresses JSON responses for clients that accept it. Streams are files, which have their own length, ranges
 * and tag, or texts of `sendStream`.
 */
export default fp(async (app) => {
  app.addHook('onSend', (request, reply, payload: unknown, done) => {
    const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
    const isCompressible = isJson(reply) && !reply.hasHeader('content-encoding')
    if (!isWhole || payload.length < THRESHOLD_BYTES || !isCompressible) return done(null, payload)
    vary(reply)
    const encoding = negotiateEncoding(request, NAMES)
    const compress = encoding === null ? undefined : ENCODINGS[encoding]
    if (compress === undefined) return done(null, payload)
    reply.header('content-encoding', encoding)
    compress(payload).then((bytes) => { done(null, bytes) }).catch(done)
  })
}, { name: 'compression', fastify: '5.x' })
