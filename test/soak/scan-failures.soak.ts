import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { type Together, addLibrary, buildTogether } from '../plugins/scans/together-support.ts'

const SILENT = 'never answers'
/** Failures of a provider's service, for all its requests. */
const FAILURES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'answers 500': (response) => { response.writeHead(500).end('oops') },
  'answers a page in place of JSON': (response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!DOCTYPE html><html><body>Please wait</body></html>')
  },
  [SILENT]: () => {},
  'refuses its key': (response) => { response.writeHead(401).end() },
  'has no quota left': (response) => { response.writeHead(429, { 'retry-after': '7200' }).end() }
}
/** After these failures a provider is not asked again for hours, or until the server restarts. */
const LASTING = ['refuses its key', 'has no quota left']
/** These providers read a folder, and an index that was built before. */
const LOCAL = ['gamelist', 'launchbox']
/** Time limit of a lookup at a service that never answers. */
const TIMEOUT_MS = 5_000

type Ids = Record<string, Record<string, string>>

/** Repeats all lookups and returns the stored ids by ROM and provider. */
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

/** Lists the providers whose results may depend on this one. */
function listDependents (key: string, { definitions }: Together): string[] {
  const links = definitions.get(key)?.order?.links ?? []
  return [...definitions].flatMap(([later, { order: { after = [] } = {} }]) =>
    after.includes(key) || links.includes(later) ? [later] : [])
}

function without (keys: ReadonlySet<string>, ids: Ids): Ids {
  const others = (found: Record<string, string>) => Object.entries(found).filter(([key]) => !keys.has(key))
  return Object.fromEntries(Object.entries(ids).flatMap(([name, found]) =>
    others(found).length === 0 ? [] : [[name, Object.fromEntries(others(found))]]))
}

for (const [what, failure] of Object.entries(FAILURES)) {
  t.test(`a provider that ${what} stops no other`, async (t) => {
    const test = await buildTogether(t, {}, what === SILENT ? { test_timeout_ms: TIMEOUT_MS } : {})
    await addLibrary(test, [], 0)
    const all = await lookUp(t, test)
    const lost = new Set<string>()
    const dependent = new Set<string>()
    let asked = 0
    for (const [key, source] of test.sources) {
      if (LOCAL.includes(key)) continue
      source.failure = failure
      source.requests.length = 0
      lost.add(key)
      for (const later of listDependents(key, test)) dependent.add(later)
      const hidden = new Set([...lost, ...dependent])
      t.same(without(hidden, await lookUp(t, test)), without(hidden, all), key)
      if (source.requests.length > 0) asked++
      if (LASTING.includes(what)) continue
      source.failure = null
      lost.delete(key)
      dependent.clear()
    }
    // The others may have cached answers, which no failure removes.
    t.ok(asked > test.sources.size / 2, `${asked} sources were asked`)
  })
}
