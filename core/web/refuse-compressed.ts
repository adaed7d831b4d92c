import fp from 'fastify-plugin'
import { defineError } from '../errors.ts'

const CODINGS = new Set(['gzip', 'x-gzip', 'deflate', 'compress', 'x-compress', 'br', 'zstd'])
const compressed = defineError('COMPRESSED_BODY', 415, 'The body is compressed')

/**
 * Refuses a compressed body, because no route decompresses one. An upload of it would be stored as the file itself.
 * Other words in `Content-Encoding` are ignored, because some clients write a character set there.
 */
export default fp(async (app) => {
  app.addHook('preParsing', ({ headers }, reply, payload, done) => {
    const codings = headers['content-encoding']?.split(',') ?? []
    const found = codings.find((coding) => CODINGS.has(coding.trim().toLowerCase()))
    if (found === undefined) return done(null, payload)
    // RFC 9110, 12.5.3: the codings that a repeated request may use.
    reply.header('accept-encoding', 'identity')
    done(compressed(`The server accepts no body with Content-Encoding '${found.trim()}'; send it without compression`))
  })
}, { name: 'refuse-compressed', fastify: '5.x', dependencies: ['error-handler'] })
