import fc from 'fast-check'
import type { Test } from 'tap'
import { type TestApp, shareTestApp } from '../../support.ts'
import { type Part, type Query, createClient } from '../assets/support.ts'

export interface Item {
  id: number
  name: string
  rom_ids: number[]
  rom_count: number
  path_cover_small: string | null
  path_cover_large: string | null
  path_covers_small: string[]
  path_covers_large: string[]
  url_cover: string | null
  updated_at: string
  filter_criteria?: Record<string, unknown>
}
export type Fields = Record<string, string | Part>

export const toParts = (fields: Fields): Part[] =>
  Object.entries(fields).map(([name, value]) => typeof value === 'string' ? { name, content: value } : value)

/** Returns a client for the collection routes of one user. */
export function callerOf (test: TestApp, headers: { authorization: string }) {
  const client = createClient(test, headers)
  const send = (method: 'POST' | 'PUT', path: string, fields: Fields, query: Query = {}) =>
    client.send(method, `/api/collections${path}`, query, toParts(fields))
  async function expect (method: 'POST' | 'PUT', path: string, fields: Fields, query: Query = {}): Promise<Item> {
    const reply = await send(method, path, fields, query)
    if (reply.statusCode !== 200) throw new Error(`${path}: ${reply.statusCode} ${reply.body}`)
    return reply.json<Item>()
  }
  return {
    ...client,
    headers,
    send,
    make: (name: string, query: Query = {}, fields: Fields = {}) => expect('POST', '', { name, ...fields }, query),
    put: (id: number, fields: Fields, query: Query = {}) => expect('PUT', `/${id}`, { rom_ids: '[]', ...fields }, query),
    smart: (name: string, criteria: object, query: Query = {}) =>
      expect('POST', '/smart', { name, filter_criteria: JSON.stringify(criteria) }, query),
    members: async (id: number, method: 'POST' | 'DELETE', ids: number[]) =>
      (await client.call(method, `/api/collections/${id}/roms`, { rom_ids: ids })).json<Item>(),
    roms: async (query: string) => (await client.get<{ rom_id_index: number[] }>(`/api/roms?${query}`)).rom_id_index
  }
}
export const romId = fc.integer({ min: 1, max: 9 })

export async function startCollections (t: Test) {
  const fresh = shareTestApp(t)

  async function start (t: Parameters<typeof fresh>[0]) {
    const test = await fresh(t)
    const [alice, bob] = [callerOf(test, await test.createUser('alice')), callerOf(test, await test.createUser('bob'))]
    return { test, alice, bob, admin: callerOf(test, test.admin) }
  }
  return { start }
}
