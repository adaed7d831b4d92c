import type { IncomingHttpHeaders } from 'node:http'
import fp from 'fastify-plugin'
import { defineError } from '../errors.ts'

const CODINGS = new Set(['gzip', 'x-gzip', 'deflate', 'compress', 'x-compress', 'br', 'zstd'])
const compressed = defineError('COMPRESSED_BODY', 415, 'The body is compressed')

/** Returns the name of the first coding of a header that compresses; undefined if there is none. */
const findCoding = (header = '') =>
  header.split(',').map((coding) => coding.trim()).find((coding) => CODINGS.has(coding.toLowerCase()))

/** Returns the header by which a body is compressed, with its coding; null if the body is not compressed. */
function findCompression (headers: IncomingHttpHeaders): string | null {
  for (const [name, key] of [['Content-Encoding', 'content-encoding'], ['Transfer-Encoding', 'transfer-encoding']] as const) {
    const coding = findCoding(headers[key])
    if (coding !== undefined) return `${name} '${coding}'`
  }
  return null
}

/**
 * Refuses a compressed body, because neither Node nor a route decompresses one. An upload of it would be stored as the
 * file itself. Other words in `Content-Encoding` are ignored, because some clients write a character set there.
 */
export default fp(async (app) => {
  app.addHook('preParsing', ({ headers }, reply, payload, done) => {
    const found = findCompression(headers)
    if (found === null) return done(null, payload)
    // RFC 9110, 12.5.3: the codings that a repeated request may use.
    reply.header('accept-encoding', 'identity')
    done(compressed(`The server accepts no body with ${found}; send it without compression`))
  })
}, { name: 'refuse-compressed', fastify: '5.x', dependencies: ['error-handler'] })
