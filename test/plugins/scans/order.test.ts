import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProviderContext, Rom } from '@svc/plugin-sdk'
import t from 'tap'
import { createMemo } from '../../../core/loader/calls/memo.ts'
import type { PluginView } from '../../../plugins/plugins/schemas.ts'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { until } from '../../until.ts'
import { buildScanTest, startWorker } from './support.ts'

const CONFIG = { filesystem: { skip_hash_calculation: true }, scan: { hash_threads: 1 } }
const test = await buildScanTest(t, {
  config: CONFIG,
  providers: ['late', 'frame', 'deep', 'mirror', 'alpha', 'scene', 'pointer', 'atlas', 'circle']
})
const { app, worker, admin, put, scan, rom, sql, dataDir } = test
const alpha = scriptOf('alpha')
const scene = scriptOf('scene')
const mirror = scriptOf('mirror')
const deep = scriptOf('deep')
const late = scriptOf('late')
const frame = scriptOf('frame')
const pointer = scriptOf('pointer')
const atlas = scriptOf('atlas')
let count = 0

t.beforeEach(resetScripts)

/** Creates a new platform folder with these files for a test. */
async function platform (...names: string[]): Promise<string> {
  const folder = `order ${count++}`
  await put(Object.fromEntries(names.map((name) => [`roms/${folder}/${name}`, name])))
  return folder
}

async function listPlugins (): Promise<PluginView[]> {
  return (await app.inject({ url: '/api/plugins', headers: admin })).json<PluginView[]>()
}

const nameIn = async (folder: string, name: string) => (await rom(folder, name)).name

t.test('chained providers run in order, each with the matches of earlier ones', async (t) => {
  const folder = await platform('Chain.bin')
  let seen: unknown
  scene.identify = () => ({ id: 3, name: 'Seen', ids: { mirror: 5 } })
  mirror.getById = (id) => ({ id: Number(id), ids: { deep: 9 } })
  deep.getById = (id, _rom, { found }) => {
    seen = Object.fromEntries(found)
    return { id: Number(id), name: 'Deepest' }
  }
  await scan({ platform_fs_slugs: [folder] })
  t.match(await rom(folder, 'Chain.bin'), { ids: { scene: '3', mirror: '5', deep: '9' } })
  t.match(seen, { scene: { id: 3, name: 'Seen' }, mirror: { id: 5, ids: { deep: 9 } } })
})

t.test('an id of an unselected provider is stored but not looked up', async (t) => {
  const folder = await platform('Linked.bin', 'Unknown.bin')
  let asked = 0
  scene.identify = ({ fs_name: name }) => name === 'Linked.bin'
    ? { id: 3, name: 'Seen', ids: { late: 77, mirror: 8, nobody: 5, deep: 'no number' } }
    : null
  pointer.identify = () => ({ ids: { late: 78 } })
  mirror.getById = () => null
  late.identify = () => {
    asked++
    return null
  }
  await scan({ platform_fs_slugs: [folder], apis: ['scene', 'mirror', 'late'] })
  t.same((await rom(folder, 'Linked.bin')).ids, { scene: '3', late: '77' }, 'no id of a source that denies it, or is none')
  t.equal(asked, 1, 'it was asked about the other one only')
  await scan({ platform_fs_slugs: [folder], apis: ['pointer'], type: 'unmatched' })
  t.match(await rom(folder, 'Unknown.bin'), { is_identified: false, ids: { late: '78' } })
  await scan({ platform_fs_slugs: [folder], apis: ['late'], type: 'unmatched' })
  t.equal(asked, 2, 'a kept id does not count as looked up')
  late.identify = () => ({ id: 79, name: 'By Late' })
  await scan({ platform_fs_slugs: [folder], apis: ['late'], type: 'unmatched' })
  t.match(await rom(folder, 'Unknown.bin'), { is_identified: true, name: 'By Late', ids: { late: '79' } })
})

t.test('an id that no provider gives any more is deleted', async (t) => {
  const folder = await platform('Gone.bin')
  scene.identify = () => ({ id: 3, ids: { late: 77 } })
  await scan({ platform_fs_slugs: [folder], apis: ['scene'] })
  t.match(await rom(folder, 'Gone.bin'), { ids: { scene: '3', late: '77' } })
  scene.identify = () => ({ id: 3, ids: { late: 80 } })
  await scan({ platform_fs_slugs: [folder], apis: ['scene'], type: 'complete' })
  t.match(await rom(folder, 'Gone.bin'), { ids: { scene: '3', late: '80' } })
  scene.identify = () => ({ id: 3 })
  await scan({ platform_fs_slugs: [folder], apis: ['scene'], type: 'complete' })
  t.same((await rom(folder, 'Gone.bin')).ids, { scene: '3' })
})

t.test('a provider that runs alone gets stored matches, and their links are followed', async (t) => {
  const folder = await platform('Later.bin')
  scene.identify = () => ({ id: 3, name: 'Seen', ids: { mirror: 5 } })
  await scan({ platform_fs_slugs: [folder], apis: ['scene'] })
  let seen: unknown
  mirror.getById = (id, _rom, { found }) => {
    seen = [...found.keys()]
    return { id: Number(id) }
  }
  await scan({ platform_fs_slugs: [folder], apis: ['mirror'], type: 'unmatched' })
  t.match(await rom(folder, 'Later.bin'), { ids: { mirror: '5' } })
  t.same(seen, ['scene'])
})

t.test('a provider without a search is called only with a known id', async (t) => {
  const folder = await platform('Nothing.bin', 'Tagged (deep-4).bin')
  deep.getById = (id) => ({ id: Number(id) })
  await scan({ platform_fs_slugs: [folder] })
  t.same(deep.calls.map(({ rom, id }) => `${rom} ${id}`), ['Tagged (deep-4).bin 4'])
  t.same(mirror.calls, [])
})

t.test('some providers get only ROMs that others identified, or did not', async (t) => {
  const folder = await platform('Known.bin', 'Unknown.bin', 'Last.bin')
  alpha.identify = ({ fs_name: name }) => name === 'Known.bin' ? { id: 1 } : null
  late.identify = ({ fs_name: name }) => name === 'Last.bin' ? { id: 2 } : null
  frame.identify = () => ({ id: 8 })
  await scan({ platform_fs_slugs: [folder] })
  t.same(late.calls.map((call) => call.rom).sort(), ['Last.bin', 'Unknown.bin'])
  t.same(frame.calls.map((call) => call.rom), ['Known.bin'])
})

t.test('a complete scan drops a fallback match when another provider matches', async (t) => {
  const folder = await platform('Found later.bin')
  late.identify = () => ({ id: 2, name: 'Late' })
  await scan({ platform_fs_slugs: [folder] })
  t.match(await rom(folder, 'Found later.bin'), { ids: { late: '2' } })
  alpha.identify = () => ({ id: 1, name: 'Early' })
  await scan({ platform_fs_slugs: [folder], type: 'complete' })
  t.same((await rom(folder, 'Found later.bin')).ids, { alpha: '1' })
})

t.test('a provider of ids alone identifies no ROM, but its links are usable later', async (t) => {
  const folder = await platform('Linked.bin')
  pointer.identify = () => ({ ids: { alpha: 77 } })
  await scan({ platform_fs_slugs: [folder] })
  const stored = await rom(folder, 'Linked.bin')
  t.equal(stored.is_identified, false)
  const view = (await app.inject({ url: `/api/roms/${stored.id}`, headers: admin })).json<Record<string, unknown>>()
  t.notOk('pointer_id' in view)
  t.equal(view.is_identified, false)

  alpha.getById = (id) => ({ id: Number(id), name: `Number ${id}` })
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'], type: 'unmatched' })
  t.match(await rom(folder, 'Linked.bin'), { name: 'Number 77', is_identified: true, ids: { alpha: '77' } })
})

t.test('a match of a provider of ids alone is refused if it has its own id', async (t) => {
  const folder = await platform('Both.bin')
  pointer.identify = () => ({ id: 4, ids: { alpha: 77 } })
  const status = await scan({ platform_fs_slugs: [folder] })
  t.match(status.meta.problems.map(({ reason }) => reason), [/^provider pointer failed once with: .*with an 'id' of its own/])
})

t.test('a provider that claims fields wins over priorities and stored values', async (t) => {
  const folder = await platform('Demo.bin')
  const cover = (key: string) => [{ kind: 'cover' as const, url: `http://127.0.0.1:1/${key}.png` }]
  alpha.identify = () => ({ id: 1, name: 'By Alpha', summary: 'Alpha says', media: cover('alpha'), genres: ['A'] })
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  t.match(await rom(folder, 'Demo.bin'), { name: 'By Alpha', summary: 'Alpha says' })
  scene.identify = () => ({ id: 3, name: 'By Scene', media: cover('scene'), genres: ['S'] })
  await scan({ platform_fs_slugs: [folder], apis: ['scene'], type: 'unmatched' })
  const [row] = await sql('select name, summary, url_cover, genres from roms where fs_name = $1', ['Demo.bin'])
  t.same(row, { name: 'By Scene', summary: 'Alpha says', url_cover: 'http://127.0.0.1:1/scene.png', genres: ['A'] })
})

t.test('only a complete scan replaces a match by one with a lower score', async (t) => {
  const folder = await platform('Sure.bin')
  alpha.identify = () => ({ id: 1, score: 0.9, name: 'Nearly certain', genres: ['sure'] })
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  alpha.getById = alpha.identify = () => ({ id: 2, score: 0.5, name: 'A guess' })
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'], type: 'update' })
  t.match(await rom(folder, 'Sure.bin'), { name: 'Nearly certain', ids: { alpha: '1' } })
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'], type: 'complete' })
  t.match(await rom(folder, 'Sure.bin'), { name: 'A guess', ids: { alpha: '2' } })
})

t.test('an option that a provider declares is in the payload and reaches it', async (t) => {
  const folder = await platform('Option.bin')
  const seen: unknown[] = []
  const note = (_rom: Rom, { options }: ProviderContext) => {
    seen.push(options)
    return null
  }
  scene.identify = note
  alpha.identify = note
  await scan({ platform_fs_slugs: [folder], apis: ['scene', 'alpha'] })
  await scan({ platform_fs_slugs: [folder], apis: ['scene'], type: 'unmatched', scene_depth: 5 })
  t.same(seen.map((options) => JSON.stringify(options)).sort(), ['{"scene_depth":2}', '{"scene_depth":5}', '{}'])
  const refused = await app.inject({ method: 'POST', url: '/api/tasks/scan', headers: admin, payload: { scene_depth: 0 } })
  t.equal(refused.statusCode, 422)
  t.match(refused.body, 'scene_depth')
  const document = (await app.inject({ url: '/openapi.json' })).json()
  t.match(document.components.schemas.ScanPayload.properties, {
    scene_depth: { type: 'integer', description: /2/ }, launchbox_remote_enabled: { description: /true/ }
  })
})

t.test("short names and serials are looked up in a provider's index after its build", async (t) => {
  await put({ 'roms/arcade/sf2.zip': 'x', 'roms/psx/Wired [SLUS-00594].bin': 'x', 'roms/psx/Plain.bin': 'x' })
  const seen = new Map<string, readonly string[]>()
  alpha.identify = ({ fs_name: name, titles }) => {
    seen.set(name, titles)
    return null
  }
  await scan({ platform_fs_slugs: ['arcade', 'psx'], apis: ['alpha'] })
  t.same(seen.get('sf2.zip'), ['sf2'], 'nobody waits for the first build')
  const provider = worker?.registry.providers.get('atlas')
  const preferences = { regions: [], languages: [], media: [] }
  await provider?.rebuildIndex?.({ signal: new AbortController().signal, memo: createMemo(), preferences })
  await scan({ platform_fs_slugs: ['arcade', 'psx'], apis: ['alpha'], type: 'unmatched' })
  t.same(Object.fromEntries(seen), {
    'sf2.zip': ['Street Duel II', 'sf2'], 'Wired [SLUS-00594].bin': ['Wired Arms', 'Wired'], 'Plain.bin': ['Plain']
  })
})

t.test('a provider maps a platform to several ids or none, and adds facts about it', async (t) => {
  await put({ 'roms/arcade/pong.zip': 'x', 'roms/psx/Disc.bin': 'x' })
  const seen = new Map<string, unknown>()
  atlas.identify = ({ platform }) => {
    seen.set(platform.slug, platform.ids)
    return null
  }
  await scan({ platform_fs_slugs: ['arcade', 'psx'], apis: ['atlas'] })
  t.same(Object.fromEntries(seen), { arcade: [71, 72], psx: [] })
  const platforms = (await app.inject({ url: '/api/platforms', headers: admin })).json<Record<string, unknown>[]>()
  t.match(platforms.find(({ slug }) => slug === 'arcade'),
    { atlas_id: 71, family_name: 'Coin-op', family_slug: 'coin-op', url_logo: 'https://atlas.example/arcade.png' })
  t.match(platforms.find(({ slug }) => slug === 'psx'), { atlas_id: null, family_name: 'PlayStation', url_logo: null })
})

t.test("providers always get a ROM's regions; they lead the list only if configured", async (t) => {
  const folder = await platform('Regions (Japan).bin')
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  const seen: unknown[] = []
  alpha.identify = ({ region_codes: codes }, { preferences }) => {
    seen.push([codes, preferences.regions])
    return null
  }
  for (const mode of ['prefer_rom_tags', 'prefer_config']) {
    const scanConfig = { hash_threads: 1, priority: { region: ['us', 'jp'], region_mode: mode } }
    await writeFile(join(dataDir, 'config.yml'), JSON.stringify({ ...CONFIG, scan: scanConfig }))
    await scan({ platform_fs_slugs: [folder], apis: ['alpha'], type: 'unmatched' })
  }
  await writeFile(join(dataDir, 'config.yml'), JSON.stringify(CONFIG))
  t.same(seen, [[['jp'], ['jp', 'us']], [['jp'], ['us', 'jp']]])
})

t.test('a plugin that closes a dependency circle fails, and its error names the circle', async (t) => {
  const circle = (await listPlugins()).find((plugin) => plugin.key === 'circle')
  t.equal(circle?.status, 'failed')
  t.match(circle?.reason, 'its order is a cycle: circle → scene → mirror → deep → circle')
  t.equal((await listPlugins()).find((plugin) => plugin.key === 'scene')?.status, 'active')
})

t.test('a spent allowance pauses a provider across restarts and drops no stored data', async (t) => {
  const folder = await platform('First.bin')
  const resetsAt = Date.now() + 3_600_000
  alpha.identify = () => ({ id: 1, name: 'By Alpha' })
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  alpha.identify = (_rom, { http }) => {
    http.setAllowance({ name: 'day', remaining: 0, total: 100, resetsAt })
    return { id: 1, name: 'By Alpha' }
  }
  await put({ [`roms/${folder}/Second.bin`]: 'x' })
  await scan({ platform_fs_slugs: [folder], apis: ['alpha'] })
  const calls = alpha.calls.length
  const status = await scan({ platform_fs_slugs: [folder], apis: ['alpha'], type: 'complete' })
  t.equal(alpha.calls.length, calls, 'it is not asked')
  t.equal(await nameIn(folder, 'First.bin'), 'By Alpha')
  t.equal(status.meta.scan_stats.failed_lookups, 2)
  t.match(status.meta.problems.map(({ reason }) => reason),
    [/^provider alpha was skipped 2 times: its allowance 'day' is used up; calls resume at /])
  const plugin = (await listPlugins()).find(({ key }) => key === 'alpha')
  t.match(plugin, { allowances: [{ name: 'day', remaining: 0, total: 100 }] })
  t.equal(Date.parse(plugin?.paused_until ?? ''), resetsAt)

  await until(async () => (await sql('select 1 from plugin_limits')).length > 0, 'the allowance is stored')
  const next = await startWorker(t, test, ['alpha'])
  t.match(next.registry.providers.get('alpha')?.reportedLimits.findSpent(), { name: 'day', resetsAt })
})
