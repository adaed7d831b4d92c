import { CredentialsRefusedError, type Match, RateLimitedError } from '@svc/plugin-sdk'
import { findBestTitle } from '@svc/plugin-sdk/titles'
import t from 'tap'
import type { Circuit } from '../../../plugins/circuits/schemas.ts'
import type { PluginView } from '../../../plugins/plugins/schemas.ts'
import type { RomSources } from '../../../plugins/editing/schemas.ts'
import { explainRom } from '../../../plugins/scans/cli/explain-rom.ts'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { buildScanTest } from './support.ts'

const test = await buildScanTest(t, {
  config: {
    filesystem: { skip_hash_calculation: true },
    scan: { priority: { metadata: ['beta', 'alpha'], artwork: ['alpha', 'beta'], screenshot: ['digest'], manual: ['beta'] } }
  }
})
const { app, admin, put, scan, rom, roms, sql } = test
const alpha = scriptOf('alpha')
const beta = scriptOf('beta')
const digest = scriptOf('digest')
const pictures = scriptOf('pictures')
let count = 0

t.beforeEach(resetScripts)

/** Creates a new platform folder with these files for a test. */
async function platform (...names: string[]): Promise<string> {
  const folder = `platform ${count++}`
  await put(Object.fromEntries(names.map((name) => [`roms/${folder}/${name}`, name])))
  return folder
}

/** Returns the names of `count` files. */
const games = (count: number) => Array.from({ length: count }, (_none, index) => `Game ${index}.bin`)

/** Returns a provider's circuit from `GET /api/plugins`. */
async function circuitOf (key: string): Promise<Circuit | null | undefined> {
  const rows = (await app.inject({ url: '/api/plugins', headers: admin })).json<PluginView[]>()
  return rows.find((row) => row.key === key)?.circuit
}

const reasons = (status: Awaited<ReturnType<typeof scan>>) => status.meta.problems.map((problem) => problem.reason)

t.test('a text over the limit is cut, and its match counts', async (t) => {
  const folder = await platform('Long.bin')
  alpha.identify = () => ({ id: 1, name: `${'n'.repeat(349)}🌊`, sort_name: 's'.repeat(501), summary: 't'.repeat(60_001) })
  t.same(reasons(await scan({ platform_fs_slugs: [folder] })), [])
  const rows = await sql(`select name, length(name_sort_key) as sort_length, length(summary) as summary_length
    from roms where fs_name = 'Long.bin'`)
  t.match(rows, [{ name: 'n'.repeat(349), sort_length: 500, summary_length: 60_000 }], 'no half of a character is left')
})

t.test('a match of two million characters is refused', async (t) => {
  const folder = await platform('Large.bin')
  alpha.identify = () => ({ id: 1, name: 'Large', metadata: { record: 'r'.repeat(2_000_000) } })
  t.match(reasons(await scan({ platform_fs_slugs: [folder] })),
    [/Provider 'alpha' returned a match of 20000\d\d characters, but the limit is 2000000; return only what describes the game/])
  t.match(await sql("select is_identified from roms where fs_name = 'Large.bin'"), [{ is_identified: false }])
})

const lookupsOf = async (id: number) =>
  (await app.inject({ url: `/api/roms/${id}/sources`, headers: admin })).json<RomSources>().lookups

t.test('each match and each miss is stored with the lookup that led to it', async (t) => {
  await put({ 'roms/snes/Harbor.sfc': 'harbor' })
  digest.identify = (_rom, ctx) => {
    ctx.explain({ by: 'hash', hashes: ['md5'] })
    return { id: 5, ids: { alpha: 9 } }
  }
  alpha.getById = (id) => ({ id: Number(id), name: 'Harbor' })
  beta.identify = (rom, { explain }) => {
    const titles = ['Harbor II', 'Harbour', 'Farm\0']
    const best = findBestTitle(rom.fs_name_no_tags, titles, { threshold: 0.75, explain })
    return best === undefined ? null : { id: 'harbour', score: best.score, name: best.title }
  }
  pictures.identify = (rom, { explain }) => {
    findBestTitle(rom.fs_name_no_tags, ['Barbarian'], { threshold: 0.9, explain })
    explain({ by: 'hash', hashes: ['tiger' as never] })
    return null
  }
  await scan({ platform_fs_slugs: ['snes'] })
  const { id } = await rom('snes', 'Harbor.sfc')
  const lookups = await lookupsOf(id)
  t.match(lookups, [
    { provider: 'alpha', provider_id: '9', method: 'link', reason: 'id_known', steps: [{ by: 'id', id: 9, provider: 'digest' }] },
    {
      provider: 'beta',
      provider_id: 'harbour',
      method: 'search',
      reason: 'best_candidate',
      name: 'Harbor',
      platform: 'snes',
      steps: [{ by: 'search', threshold: 0.75, count: 3 }]
    },
    { provider: 'digest', provider_id: '5', method: 'hash', reason: 'hash_known', steps: [{ by: 'hash', hashes: ['md5'] }] },
    { provider: 'pictures', provider_id: null, method: null, reason: 'score_too_low', steps: [{ by: 'search', count: 1 }] }
  ])
  t.equal(lookups.length, 4)
  const printed: string[] = []
  const print = async (wanted: string, json = false) => {
    printed.length = 0
    await explainRom(app, wanted, { json, write: (text) => { printed.push(text) } })
    return printed.join('')
  }
  t.match(await print(String(id)), /pictures: no game, because no candidate is similar enough .+\n.+by name ".+": 1 candidate, best 0\.\d\d below 0\.90/)
  t.equal(await print('roms/snes/Harbor.sfc'), await print(String(id)))
  t.match(JSON.parse(await print(String(id), true)), { id, lookups: [{ provider: 'alpha' }, {}, {}, {}] })
  await t.rejects(print('roms/none.bin'), /There is no ROM 'roms\/none\.bin'/)
})

t.test('a failed lookup is stored with its error, and a later match replaces it', async (t) => {
  const folder = await platform('Later.bin')
  alpha.identify = () => { throw new Error('The service is on fire') }
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  const { id } = await rom(folder, 'Later.bin')
  t.match(await lookupsOf(id), [{ provider: 'alpha', reason: 'failed', problem: 'The service is on fire' }])
  alpha.identify = () => null
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'], type: 'unmatched' })
  t.match(await lookupsOf(id), [{ provider: 'alpha', reason: 'unknown', method: null }])
  alpha.identify = () => ({ id: 3 })
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'], type: 'unmatched' })
  t.match(await lookupsOf(id), [{ provider: 'alpha', provider_id: '3', method: 'provider', reason: 'unexplained' }])
  await sql('update rom_matches set explanation = null where rom_id = $1', [id])
  t.match(await lookupsOf(id), [{ provider: 'alpha', provider_id: '3', method: null, reason: 'not_recorded', steps: [] }])
  const form = { method: 'PUT', url: `/api/roms/${id}`, headers: admin } as const
  t.equal((await app.inject({ ...form, payload: { alpha_id: '4' } })).statusCode, 200)
  t.match(await lookupsOf(id), [{ provider_id: '4', method: 'person', steps: [{ by: 'id', id: 4, from: 'person' }] }])
})

t.test('each field comes from the first provider in its own order that has a value', async (t) => {
  await put({ 'roms/snes/Merge.sfc': 'merge' })
  // An address that refuses connections at once.
  const media = (key: string): Match['media'] => [
    { kind: 'cover', url: `http://127.0.0.1:1/${key}.png` }, { kind: 'screenshot', url: `http://127.0.0.1:1/${key}-1.png` },
    { kind: 'manual', url: `http://127.0.0.1:1/${key}.pdf` }
  ]
  alpha.identify = () => ({ id: 1, name: 'By Alpha', summary: 'Alpha says', average_rating: 80, genres: ['A'], media: media('alpha') })
  beta.identify = () => ({ id: 'b', name: 'By Beta', summary: '', average_rating: 60, player_count: '1', media: media('beta') })
  digest.identify = () => ({ id: 2, name: 'By Digest', genres: ['D'], player_count: '1-4', media: media('digest') })
  await scan({ platform_fs_slugs: ['snes'] })
  const [row] = await sql("select name, summary, genres, player_count, average_rating, url_cover, url_screenshots, url_manual from roms where fs_name = 'Merge.sfc'")
  t.same(row, {
    name: 'By Beta',
    summary: 'Alpha says',
    genres: ['A'],
    player_count: '1-4',
    average_rating: 70,
    url_cover: 'http://127.0.0.1:1/alpha.png',
    url_screenshots: ['http://127.0.0.1:1/digest-1.png'],
    url_manual: 'http://127.0.0.1:1/beta.pdf'
  })
})

t.test('the highest minimum age of all providers counts; without any there is none', async (t) => {
  const folder = await platform('rated.sfc', 'unrated.sfc')
  const ages = async () => await sql(`select fs_name, min_age from roms r join platforms p on p.id = r.platform_id
    where p.fs_slug = $1 order by fs_name`, [folder])
  alpha.identify = ({ fs_name: name }) => ({ id: 1, ...name === 'rated.sfc' && { min_age: 16 } })
  digest.identify = ({ fs_name: name }) => ({ id: 2, ...name === 'rated.sfc' && { min_age: 18 } })
  pictures.identify = () => ({ id: 3 })
  await scan({ platform_fs_slugs: [folder] })
  t.same(await ages(), [{ fs_name: 'rated.sfc', min_age: 18 }, { fs_name: 'unrated.sfc', min_age: null }])
})

t.test('a match of a provider of artwork alone leaves a ROM unidentified', async (t) => {
  const folder = await platform('Only.bin')
  pictures.identify = () => ({ id: 'p' })
  const status = await scan({ platform_fs_slugs: [folder] })
  t.match(await rom(folder, 'Only.bin'), { is_identified: false, ids: { pictures: 'p' }, name: 'Only' })
  t.equal(status.meta.scan_stats.identified_roms, 0)
})

t.test('an id in the file name is looked up first; the search runs only if it fails', async (t) => {
  const folder = await platform('Right (Alpha-41).bin', 'Wrong (alpha-42).bin')
  alpha.getById = (id) => id === 41 ? { id: 41, name: 'Forty-one' } : null
  alpha.identify = () => ({ id: 5, name: 'Searched' })
  digest.identify = () => ({ id: 1, ids: { alpha: 77 } })
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  t.match(await rom(folder, 'Right (Alpha-41).bin'), { name: 'Forty-one', ids: { alpha: '41' } })
  t.match(await rom(folder, 'Wrong (alpha-42).bin'), { name: 'Searched', ids: { alpha: '5' } })
  t.same(alpha.calls.map(({ method, id }) => `${method} ${id}`).sort(), ['getById 41', 'getById 42', 'identify null'])
})

t.test('an id from a match by hash is used by its provider; a tag in the name wins', async (t) => {
  const folder = await platform('Linked.bin', 'Tagged (alpha-9).bin')
  digest.identify = async () => ({ id: 1, ids: { alpha: 77 } })
  alpha.getById = (id) => ({ id: Number(id), name: `Number ${id}` })
  await scan({ platform_fs_slugs: [folder], apis: ['alpha', 'digest'] })
  t.match(await rom(folder, 'Linked.bin'), { name: 'Number 77', ids: { alpha: '77', digest: '1' } })
  t.match(await rom(folder, 'Tagged (alpha-9).bin'), { name: 'Number 9' })
})

t.test('a provider gets its own id of the platform, and no ROM of unknown platforms', async (t) => {
  await put({ 'roms/nes/Known.nes': 'x', 'roms/c64/Unknown.d64': 'x' })
  const seen: unknown[] = []
  beta.identify = ({ platform }) => {
    seen.push(platform)
    return null
  }
  await scan({ platform_fs_slugs: ['nes', 'c64'], apis: ['beta'] })
  t.match(seen, [{ slug: 'nes', fs_slug: 'nes', ids: ['NES'], fs_path: 'roms/nes' }])
})

t.test('a provider that throws loses only its own match, and the scan reports it', async (t) => {
  const folder = await platform('One.bin', 'Two.bin')
  alpha.identify = () => { throw new Error('the table is upside down') }
  digest.identify = () => ({ id: 3, name: 'Digested' })
  const status = await scan({ platform_fs_slugs: [folder], apis: ['alpha', 'digest'] })
  t.equal(status.status, 'finished')
  t.same((await roms(folder)).map((one) => one.name), ['Digested', 'Digested'])
  t.equal(status.meta.scan_stats.failed_lookups, 2)
  t.match(reasons(status), [/^provider alpha failed 2 times, the first time with: the table is upside down$/])
})

t.test('a provider that throws a value that is no Error loses only its own match', async (t) => {
  const folder = await platform('One.bin')
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
  alpha.identify = () => Promise.reject('just a text')
  const status = await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  t.match(reasons(status), [/just a text/])
})

t.test('a provider that never answers times out; later lookups do not wait for it', async (t) => {
  const folder = await platform(...games(40))
  alpha.identify = () => new Promise(() => {})
  digest.identify = () => ({ id: 3 })
  const status = await scan({ platform_fs_slugs: [folder], apis: ['alpha', 'digest'] })
  t.equal((await roms(folder)).filter((one) => one.is_identified).length, 40)
  t.ok(alpha.calls.length >= 8 && alpha.calls.length < 16, `${alpha.calls.length} calls`)
  t.equal(status.meta.scan_stats.failed_lookups, 40, 'those that were not made count as well')
  t.match(reasons(status), [
    `provider alpha failed ${alpha.calls.length} times, the first time with: Provider 'alpha' did not answer within 0.3 s`,
    new RegExp(`^provider alpha was skipped ${40 - alpha.calls.length} times: it failed 8 times in a row, most recently with: ` +
      "Provider 'alpha' did not answer within 0.3 s; calls resume at 20[-0-9]+T[:.0-9]+\\+00:00$")
  ])
})

t.test('the circuit of a failed provider stays open until the next scan tries it', async (t) => {
  t.match(await circuitOf('alpha'), {
    state: 'open', reason: /^it failed 8 times in a row/, failures_in_a_row: 8, opened_at: /^20/, retry_at: /^20/
  })
  const folder = await platform(...games(12))
  const first = Promise.withResolvers<Match>()
  alpha.identify = () => first.promise
  setImmediate(() => { first.resolve({ id: 6 }) })
  const status = await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  t.equal(status.meta.scan_stats.identified_roms, 12, 'the others wait for that call')
  t.same(reasons(status), [])
  t.same(await circuitOf('alpha'), {
    state: 'closed', reason: null, failures_in_a_row: 0, opened_at: null, retry_at: null
  })
})

t.test('an invalid match is refused with the reason', async (t) => {
  const nonsense: [unknown, RegExp][] = [
    [{ id: 1, name: 5 }, /name/], [{ name: 'no id' }, /id/], ['text', /shape/], [[], /id|shape/], [{ id: 'text' }, /not of the type integer/],
    [{ id: 1e300 }, /1e\+300/], [{ id: 1, first_release_date: 1e300 }, /date/],
    [{ id: 1, average_rating: Number.NaN }, /average_rating/], [{ id: 1, media: [{ kind: 'poster', url: 'x' }] }, /media/]
  ]
  for (const [answer, expected] of nonsense) {
    const folder = await platform('One.bin')
    alpha.identify = () => answer as Match
    const status = await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
    t.match(reasons(status), [expected], JSON.stringify(answer))
    t.same((await rom(folder, 'One.bin')).ids, {}, JSON.stringify(answer))
  }
})

t.test('a match whose metadata contradicts its schema is refused with the reason', async (t) => {
  const nonsense: [unknown, RegExp][] = [
    [{ pages: 'many' }, /a match whose metadata\/pages is wrong: Expected integer; it is "many"$/], [['x'], /metadata is wrong: Expected object/],
    ['text', /metadata is wrong/], [null, /metadata is wrong/], [{ pages: 1, author: null }, /metadata\/author is wrong/]
  ]
  for (const [metadata, expected] of nonsense) {
    const folder = await platform('One.bin')
    digest.identify = () => ({ id: 1, metadata } as Match)
    t.match(reasons(await scan({ platform_fs_slugs: [folder], apis: ['digest'] })), [expected], JSON.stringify(metadata))
    t.same((await rom(folder, 'One.bin')).ids, {}, JSON.stringify(metadata))
  }
  const folder = await platform('One.bin')
  for (const metadata of [{ author: 'A' }, { pages: 7, year: 1993 }]) {
    digest.identify = () => ({ id: 1, metadata })
    t.same(reasons(await scan({ platform_fs_slugs: [folder], type: 'complete', apis: ['digest'] })), [])
    const answer = await app.inject({ url: `/api/roms/${(await rom(folder, 'One.bin')).id}`, headers: admin })
    t.same(answer.json<{ digest_metadata: object }>().digest_metadata, metadata, 'missing and further fields are no contradiction')
  }
})

t.test('an undefined id of another provider does not spoil a match', async (t) => {
  const folder = await platform('One.bin')
  alpha.identify = () => ({ id: 1, name: 'By Alpha', summary: undefined, ids: { beta: undefined } })
  const status = await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  t.same(reasons(status), [])
  t.match(await rom(folder, 'One.bin'), { name: 'By Alpha', ids: { alpha: '1' } })
})

t.test('regions and languages in the file name win over those of a provider', async (t) => {
  const folder = await platform('Tagged (USA) (En).bin', 'Untagged.bin')
  alpha.identify = ({ fs_name: name }) => ({ id: name === 'Untagged.bin' ? 1 : 2, regions: ['Japan'], languages: ['Japanese'] })
  for (const type of ['quick', 'update']) {
    await scan({ platform_fs_slugs: [folder], type, apis: ['alpha'] })
    const rows = await sql(`select regions, languages from roms r join platforms p on p.id = r.platform_id
      where p.fs_slug = $1 order by r.fs_name`, [folder])
    t.same(rows, [{ regions: ['USA'], languages: ['English'] }, { regions: ['Japan'], languages: ['Japanese'] }], type)
  }
})

t.test('a provider gets each title of a name that holds several', async (t) => {
  const folder = await platform('Minato no Uta ~ Harbor Song (Japan).bin')
  let titles: readonly string[] = []
  alpha.identify = (game) => {
    titles = game.titles
    return null
  }
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  t.same(titles, ['Minato no Uta', 'Harbor Song', 'Minato no Uta ~ Harbor Song'])
})

t.test('texts are stored without characters that the database refuses', async (t) => {
  const folder = await platform('One.bin', 'Two.bin')
  alpha.identify = (game) => ({
    id: game.fs_name === 'One.bin' ? 1 : 2,
    name: 'Nul\0 and half \ud83c',
    summary: 'a path C:\\u0000 stays',
    metadata: { 'key\0': ['\0', { deep: '\udc00' }] },
    media: [{ kind: 'cover', url: 'javascript:alert(1)' }]
  })
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  t.match(await roms(folder), [
    { name: 'Nul and half \ufffd', summary: 'a path C:\\u0000 stays', url_cover: null }, { is_identified: true }
  ])
})

t.test('a provider is called again after the pause it asked for; others go on meanwhile', async (t) => {
  await put(Object.fromEntries(games(60).map((name) => [`roms/snes/${name}`, name])))
  const refusedAt: number[] = []
  // On a busy machine one pause is too short for the others. After 20 pauses the lookups of Alpha fail.
  alpha.identify = () => {
    const areOthersDone = [beta, pictures].every(({ calls }) => calls.length === 60)
    if (refusedAt.length >= 4 && areOthersDone) return { id: alpha.calls.length }
    refusedAt.push(performance.now())
    throw new RateLimitedError('slow down', 500)
  }
  const status = await scan({ platform_fs_slugs: ['snes'], apis: ['alpha', 'beta', 'pictures'] })
  t.equal(alpha.calls.length, 60 + refusedAt.length, 'no lookup was made twice')
  t.ok(refusedAt.every((at, index) => index < 4 || at - (refusedAt[index - 4] ?? 0) > 450), 'four calls at most were made in a pause')
  t.equal(status.meta.scan_stats.identified_roms, 60)
  t.equal(status.meta.scan_stats.failed_lookups, 0)
  t.same(reasons(status), [])
})

t.test('a provider that slows down repeatedly loses no lookup', async (t) => {
  const folder = await platform(...games(6))
  alpha.identify = () => {
    if (alpha.calls.length % 3 !== 0) throw new RateLimitedError('slow down', 1)
    return { id: alpha.calls.length }
  }
  const status = await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  t.equal(status.meta.scan_stats.identified_roms, 6)
  t.same(reasons(status), [])
})

// The next tests leave the circuit of one provider open for the rest of the file.

t.test('a provider that asks for a very long pause is skipped until then', async (t) => {
  const folder = await platform(...games(12))
  digest.identify = () => { throw new RateLimitedError('come back tomorrow', 86_400_000) }
  for (const [type, calls] of [['quick', 4], ['unmatched', 0]]) {
    digest.calls = []
    const status = await scan({ platform_fs_slugs: [folder], type, apis: ['digest'] })
    t.equal(status.status, 'finished')
    t.match(reasons(status), [/skipped 12 times: it asks for a pause of 86400 s: come back tomorrow; calls resume at/])
    t.equal(status.meta.scan_stats.failed_lookups, 12)
    t.equal(digest.calls.length, calls, 'only those that were under way, and none in the next scan')
  }
  t.match(await circuitOf('digest'), { state: 'open', failures_in_a_row: 0, retry_at: /^20/ })
})

t.test('a provider that refuses its credentials is called once per scan and reported', async (t) => {
  const folder = await platform(...games(12))
  pictures.identify = () => { throw new CredentialsRefusedError('the token of Pictures is wrong') }
  for (const [type, calls] of [['quick', 4], ['unmatched', 1]]) {
    pictures.calls = []
    const status = await scan({ platform_fs_slugs: [folder], type, apis: ['pictures'] })
    t.match(reasons(status).at(-1),
      /skipped \d+ times: .* the token of Pictures is wrong; correct PICTURES_TOKEN in the settings of the plugin, or .+ restart the server$/)
    t.equal(pictures.calls.length, calls)
  }
  t.match(await circuitOf('pictures'), { state: 'open', reason: /PICTURES_TOKEN/, opened_at: /^20/, retry_at: null })
  pictures.calls = []
  pictures.identify = () => ({ id: 'p' })
  const status = await scan({ platform_fs_slugs: [folder], type: 'unmatched', apis: ['pictures'] })
  t.same([reasons(status), pictures.calls.length], [[], 12], 'a key that was renewed there is used again')
  t.match(await circuitOf('pictures'), { state: 'closed' })
})

t.test('new settings of a refused provider apply without a restart', async (t) => {
  const folder = await platform('Renewed.bin')
  pictures.identify = () => { throw new CredentialsRefusedError('the token of Pictures is wrong') }
  await scan({ platform_fs_slugs: [folder], apis: ['pictures'] })
  t.match(await circuitOf('pictures'), { state: 'open' })
  const url = '/api/plugins/provider/pictures/settings'
  t.equal((await app.inject({ method: 'PUT', url, headers: admin, payload: { token: 'new' } })).statusCode, 200)
  t.equal(await circuitOf('pictures'), null, 'no call was made since')
  pictures.identify = () => ({ id: 'p' })
  t.same(reasons(await scan({ platform_fs_slugs: [folder], type: 'unmatched', apis: ['pictures'] })), [])
  t.match(await circuitOf('pictures'), { state: 'closed' })
})

t.test('a plugin without calls, or one that is no provider, has no circuit', async (t) => {
  const rows = (await app.inject({ url: '/api/plugins', headers: admin })).json<PluginView[]>()
  t.same(rows.map(({ key, circuit }) => [key, circuit?.state ?? null]), [
    ['alpha', 'closed'], ['beta', 'closed'], ['digest', 'open'], ['pictures', 'closed']
  ])
})
