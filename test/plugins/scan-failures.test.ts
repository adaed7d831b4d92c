import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { type Together, addLibrary, buildTogether } from './together-support.ts'

/** What a source answers when it is in trouble, to whatever it is asked. */
const FAILURES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'answers 500': (response) => { response.writeHead(500).end('oops') },
  'answers a page in place of JSON': (response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!DOCTYPE html><html><body>Please wait</body></html>')
  },
  'never answers': () => {},
  'refuses its key': (response) => { response.writeHead(401).end() },
  'has no quota left': (response) => { response.writeHead(429, { 'retry-after': '7200' }).end() }
}
/** After these a source is not asked again for hours, or until the server starts anew. */
const LASTING = ['refuses its key', 'has no quota left']
/** They ask a folder, and an index that was built before. */
const LOCAL = ['gamelist', 'launchbox']
/** Nobody waits longer for a lookup. */
const TIMEOUT_MS = 2_000

type Ids = Record<string, Record<string, string>>

/** What is stored after everybody was asked anew: ids by ROM and provider. */
async function lookUp (t: Test, { scan, sql }: Together): Promise<Ids> {
  await sql('delete from plugin_cache')
  await sql('delete from rom_matches')
  t.match(await scan({ type: 'unmatched' }), { status: 'finished' })
  const rows = await sql<{ name: string, provider: string, id: string | null }>(
    `select r.fs_name as name, m.provider, m.provider_id as id from rom_matches m join roms r on r.id = m.rom_id
    order by 1, 2`)
  const ids: Ids = {}
  for (const { name, provider, id } of rows) ids[name] = { ...ids[name], [provider]: id ?? '' }
  return ids
}

const without = (keys: ReadonlySet<string>, ids: Ids): Ids => Object.fromEntries(Object.entries(ids).map(([name, found]) =>
  [name, Object.fromEntries(Object.entries(found).filter(([key]) => !keys.has(key)))]))

for (const [what, failure] of Object.entries(FAILURES)) {
  t.test(`a source that ${what} stops no other`, async (t) => {
    const test = await buildTogether(t, {}, { test_timeout_ms: TIMEOUT_MS })
    await addLibrary(test, [], 0)
    const all = await lookUp(t, test)
    const lost = new Set<string>()
    for (const [key, source] of test.sources) {
      if (LOCAL.includes(key)) continue
      source.failure = failure
      source.requests.length = 0
      lost.add(key)
      t.same(without(lost, await lookUp(t, test)), without(lost, all), key)
      t.not(source.requests.length, 0, `${key} was asked`)
      if (LASTING.includes(what)) continue
      source.failure = null
      lost.delete(key)
    }
  })
}
