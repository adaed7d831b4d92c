import fp from 'fastify-plugin'
import { invalid } from '../errors.ts'
import { parsedBody } from './parsed-body.ts'

/** Far more than any request needs, and far below the depth at which a recursive function overflows the stack. */
export const JSON_DEPTH_MAX = 32

/** True if values are nested at most `depth` levels deep. */
export function isShallow (value: unknown, depth = JSON_DEPTH_MAX): boolean {
  if (typeof value !== 'object' || value === null) return true
  const inner: unknown[] = Array.isArray(value) ? value : Object.values(value)
  return depth > 0 && inner.every((one) => isShallow(one, depth - 1))
}

/** Refuses bodies that are nested deeper, before other code reads them. */
export default fp(async (app) => {
  app.addHook('preValidation', ({ body }, _reply, done) => {
    if (isShallow(parsedBody(body))) return done()
    throw invalid(['body'], `The body is nested deeper than ${JSON_DEPTH_MAX} levels; flatten it`, undefined, 'too_deep')
  })
}, { name: 'json-depth', fastify: '5.x' })
