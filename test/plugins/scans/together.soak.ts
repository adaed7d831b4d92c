import t from 'tap'
import { KNOWN_PROVIDERS } from '../../../plugins/plugins/known-providers.ts'
import { KEYS, KNOWN_ROMS, addLibrary, buildTogether } from './together-support.ts'

const PLATFORMS = ['snes', 'gb', 'genesis', 'win', 'browser', 'c64', 'nes', 'gba', 'n64', 'psx', 'ngc', 'dc']
const TOTAL = 50
const test = await buildTogether(t, { scan: { priority: { metadata: ['moby', 'igdb', 'gamelist'] } } })
const { app, admin, scan, rom, sql, createUser, definitions } = test
const get = async (url: string, headers: object = admin) =>
  (await app.inject({ url, headers: { ...headers } })).json<Record<string, unknown>>()
const nameOf = (path: string): [string, string] => [path.slice(0, path.indexOf('/')), path.slice(path.indexOf('/') + 1)]
const harbor = async () => await rom('snes', 'Chrono Harbor (USA).sfc')

await addLibrary(test, PLATFORMS, TOTAL)
const task = await scan({ type: 'unmatched' })

t.test('every provider finds what its fixtures know, and none fails', async (t) => {
  t.match(task, { status: 'finished', meta: { scan_stats: { failed_lookups: 0 } } })
  t.same(test.problems(task), [])
  t.match(await sql('select count(*)::int as roms, count(distinct platform_id)::int as platforms from roms'),
    [{ roms: TOTAL, platforms: PLATFORMS.length }])
  for (const { path, ids } of KNOWN_ROMS) {
    const wanted = Object.entries(ids).filter(([key]) => KEYS.includes(key))
    const found = await rom(...nameOf(path))
    t.match(found.ids, Object.fromEntries(wanted), path)
  }
  const found = await sql<{ provider: string }>('select distinct provider from rom_matches')
  t.same(found.map(({ provider }) => provider).sort(), [...KEYS].sort(), 'of each something is stored')
})

t.test('the API shows ids and records of stored matches', async (t) => {
  t.match(await get(`/api/roms/${(await harbor()).id}`), {
    igdb_id: 4711, moby_id: 4711, hasheous_id: 51873, hltb_id: 1705, sgdb_id: 54321, gamelist_id: String,
    hltb_metadata: { main_story: 84600 }, hasheous_metadata: { nointro_match: true }
  })
  const app400 = await rom('win', 'Chrono Harbor.exe')
  t.match(await get(`/api/roms/${app400.id}`), { steam_id: 400, hltb_id: 1705 })
})

t.test('each value comes from the first provider in the configured order, and names it', async (t) => {
  const { id } = await harbor()
  const { fields, media } = await get(`/api/roms/${id}/sources`) as Record<string, Record<string, string[]>>
  const detail = await get(`/api/roms/${id}`)
  t.match(fields, { name: ['moby'], summary: ['moby'], genres: ['moby'], franchises: ['igdb'], regions: ['gamelist'] })
  t.same([...fields?.average_rating ?? []].sort(), await raters(id), 'a mean is of all that rate it')
  t.same(media?.cover, ['sgdb'])
  const named = [...Object.values(fields ?? {}), ...Object.values(media ?? {})].flat()
  t.same(named.filter((key) => !KEYS.includes(key)), [])
  const [stored] = await sql<{ match: { genres: string[], summary: string } }>(
    "select match from rom_matches where rom_id = $1 and provider = 'moby'", [id])
  t.match(detail, { summary: stored?.match.summary, metadatum: { genres: stored?.match.genres } })
})

async function raters (id: number): Promise<string[]> {
  const rows = await sql<{ provider: string }>(
    "select provider from rom_matches where rom_id = $1 and match ? 'average_rating' order by provider", [id])
  return rows.map(({ provider }) => provider)
}

t.test('origins of values are shown only for ROMs the caller may see', async (t) => {
  const { id } = await harbor()
  const url = `/api/roms/${id}/sources`
  const ann = await createUser('ann')
  t.equal((await app.inject({ url })).statusCode, 401)
  t.equal((await app.inject({ url, headers: ann })).statusCode, 200)
  t.equal((await app.inject({ url: '/api/roms/999999/sources', headers: ann })).statusCode, 404)
})

t.test('the heartbeat and the plugin list are right for each provider', async (t) => {
  const { METADATA_SOURCES: flags } = await get('/api/heartbeat') as { METADATA_SOURCES: Record<string, boolean> }
  const plugins = await get('/api/plugins') as unknown as { key: string, kind: string }[]
  for (const key of KEYS) {
    const definition = definitions.get(key)
    const flag = definition?.heartbeatFlag ?? KNOWN_PROVIDERS.find((known) => known.key === key)?.flag ?? null
    if (flag !== null) t.equal(flags[flag], true, flag)
    t.match(plugins.find((one) => one.key === key), {
      kind: 'provider', status: 'active', reason: null, attribution: definition?.attribution ?? null,
      circuit: { state: 'closed', failures_in_a_row: 0 }
    }, key)
    t.match(await get(`/api/heartbeat/metadata/${key}`), true, `${key} answers`)
  }
})
