import fp from 'fastify-plugin'
import { invalid } from '../errors.ts'
import { parsedBody } from './parsed-body.ts'

interface Place { value: object, key: string | number, within: Place | null }

function locate (place: Place | null, key: string | number): (string | number)[] {
  const loc = [key]
  for (let at = place; at !== null; at = at.within) loc.unshift(at.key)
  return loc
}

/** Where a text, or the name of a key, holds NUL; null for nowhere. Without recursion: input may be nested deep. */
function findNul (part: string, input: unknown): (string | number)[] | null {
  if (typeof input !== 'object' || input === null || ArrayBuffer.isView(input)) return null
  const open: Place[] = [{ value: input, key: part, within: null }]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const isList = Array.isArray(place.value)
    for (const [name, value] of Object.entries(place.value) as [string, unknown][]) {
      const key = isList ? Number(name) : name
      if (name.includes('\0') || (typeof value === 'string' && value.includes('\0'))) return locate(place, key)
      if (typeof value === 'object' && value !== null) open.push({ value, key, within: place })
    }
  }
  return null
}

/** Neither the database nor a file name can hold NUL, and nobody types it: no text of a request does. */
export default fp(async (app) => {
  app.addHook('preValidation', ({ params, query, body }, _reply, done) => {
    const loc = findNul('path', params) ?? findNul('query', query) ?? findNul('body', parsedBody(body))
    if (loc !== null) throw invalid(loc, 'must not hold the NUL character; leave it out', undefined, 'nul')
    done()
  })
}, { name: 'refuse-nul', fastify: '5.x' })
