import fp from 'fastify-plugin'
import { invalid } from '../errors.ts'
import { parsedBody } from './parsed-body.ts'

/** Far more than any request needs, and far from where a function that walks a value would run out of stack. */
export const JSON_DEPTH_MAX = 32

/** Whether no array or object is inside more than `depth - 1` others. */
export function isShallow (value: unknown, depth = JSON_DEPTH_MAX): boolean {
  if (typeof value !== 'object' || value === null) return true
  const inner: unknown[] = Array.isArray(value) ? value : Object.values(value)
  return depth > 0 && inner.every((one) => isShallow(one, depth - 1))
}

/** Refuses bodies that are nested deeper, before anything looks into them. */
export default fp(async (app) => {
  app.addHook('preValidation', ({ body }, _reply, done) => {
    if (isShallow(parsedBody(body))) return done()
    throw invalid(['body'], `The body is nested deeper than ${JSON_DEPTH_MAX} levels; flatten it`, undefined, 'too_deep')
  })
}, { name: 'json-depth', fastify: '5.x' })
