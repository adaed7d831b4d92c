import fp from 'fastify-plugin'
import { invalid } from '../errors.ts'
import { parsedBody } from './parsed-body.ts'

type Loc = (string | number)[]

const hasNul = (text: string) => text.includes('\0')

function findInList (list: readonly unknown[]): Loc | null {
  for (let index = 0; index < list.length; index++) {
    const loc = findNul(index, list[index])
    if (loc !== null) return loc
  }
  return null
}

function findInObject (object: Record<string, unknown>): Loc | null {
  for (const name of Object.keys(object)) {
    const loc = hasNul(name) ? [name] : findNul(name, object[name])
    if (loc !== null) return loc
  }
  return null
}

/**
 * Returns the place of a text or key that contains NUL; null if there is none. Deeply nested values were refused
 * before.
 */
function findNul (part: string | number, input: unknown): Loc | null {
  if (typeof input === 'string') return hasNul(input) ? [part] : null
  if (typeof input !== 'object' || input === null || ArrayBuffer.isView(input)) return null
  const loc = Array.isArray(input) ? findInList(input) : findInObject(input as Record<string, unknown>)
  return loc === null ? null : [part, ...loc]
}

/**
 * Refuses NUL in every text of a request, because neither the database nor a file name can contain NUL and nobody types
 * it.
 */
export default fp(async (app) => {
  app.addHook('preValidation', ({ params, query, body }, _reply, done) => {
    const loc = findNul('path', params) ?? findNul('query', query) ?? findNul('body', parsedBody(body))
    if (loc !== null) throw invalid(loc, 'must not contain the NUL character; remove it', undefined, 'nul')
    done()
  })
}, { name: 'refuse-nul', fastify: '5.x', dependencies: ['json-depth'] })
