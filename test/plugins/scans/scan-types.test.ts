import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { alpha, digest, startScanTypes } from './scan-types-support.ts'

const { put, scan, rom, roms, libraryDir, sql, prepare } = await startScanTypes(t)

const beta = scriptOf('beta')

const asked = () => Object.fromEntries(Object.entries({ alpha, beta, digest })
  .map(([key, script]) => [key, script.calls.map((call) => `${call.method} ${call.rom}${call.id === null ? '' : ` ${call.id}`}`)]))

const forget = (folder: string) => sql('delete from platforms where fs_slug = $1', [folder])

t.test('quick adds entries without a row and keeps all stored data', async (t) => {
  const { known } = await prepare('snes')
  const status = await scan({ type: 'quick', platform_fs_slugs: ['snes'] })
  t.same(asked(), { alpha: ['identify New.bin'], beta: ['identify New.bin'], digest: ['identify New.bin'] })
  const after = await rom('snes', known.fs_name)
  t.match(after, { name: 'Known by Alpha', tags: ['kept'], crc_hash: 'stale', ids: { alpha: '7', digest: '70' } })
  t.match(await rom('snes', 'New.bin'), { name: 'New by Alpha', is_identified: true, ids: { alpha: '8' } })
  t.match(status.meta.scan_stats, { total_roms: 3, scanned_roms: 3, new_roms: 1, identified_roms: 1, new_platforms: 0 })
})

t.test('quick rereads a changed ROM without any lookup', async (t) => {
  await prepare('nes')
  await put({ 'roms/nes/Known (USA) (Rev 1).bin': 'other content' })
  const status = await scan({ type: 'quick', apis: [], platform_fs_slugs: ['nes'] })
  t.not((await rom('nes', 'Known (USA) (Rev 1).bin')).crc_hash, 'stale')
  t.equal((await rom('nes', 'Blank (Europe).bin')).crc_hash, 'stale')
  t.match(status.meta.scan_stats, { updated_roms: 1, new_roms: 1 })
})

t.test('new_platforms skips platforms with a row, and scans all others', async (t) => {
  await prepare('gb')
  await put({ 'roms/gbc/One.bin': '1', 'roms/gbc/Two.bin': '2' })
  const status = await scan({ type: 'new_platforms', platform_fs_slugs: ['gb', 'gbc'] })
  t.same(alpha.calls.map((call) => call.rom).sort(), ['One.bin', 'Two.bin'])
  t.same(beta.calls, [], 'Beta does not know the platform')
  t.same((await roms('gb')).map((one) => one.fs_name), ['Blank (Europe).bin', 'Known (USA) (Rev 1).bin'])
  t.match(status.meta.scan_stats, { total_platforms: 1, new_platforms: 1, total_roms: 2, new_roms: 2 })
})

t.test('update looks up stored ids at selected providers and keeps set values', async (t) => {
  const { known } = await prepare('gba')
  alpha.getById = () => ({ id: 7, name: 'Renamed', summary: 'second', genres: ['Puzzle'] })
  await scan({ type: 'update', platform_fs_slugs: ['gba'] })
  t.same(asked(), {
    alpha: [`getById ${known.fs_name} 7`], beta: [], digest: [`getById ${known.fs_name} 70`]
  })
  t.match(await rom('gba', known.fs_name), { name: 'Known by Alpha', summary: 'first', tags: ['kept'], crc_hash: 'stale' })
  const [row] = await sql<{ genres: string[], match: { summary: string } }>(
    "select genres, match from roms join rom_matches on rom_id = id where id = $1 and provider = 'alpha'", [known.id])
  t.match(row, { genres: ['Puzzle'], match: { summary: 'second' } }, 'the record of the source is replaced')
  t.equal((await roms('gba')).length, 2, 'no ROM is added')
})

t.test('update skips ROMs that no selected provider matched', async (t) => {
  await prepare('gg')
  await scan({ type: 'update', apis: ['beta'], platform_fs_slugs: ['gg'] })
  t.same(asked(), { alpha: [], beta: [], digest: [] })
})

t.test('update and unmatched add a row for a new platform, but none for its ROMs', async (t) => {
  await put({ 'roms/psx/Disc.bin': 'disc' })
  const status = await scan({ type: 'update', platform_fs_slugs: ['psx'] })
  t.equal(status.meta.scan_stats.new_platforms, 1)
  t.same(await roms('psx'), [])
})

t.test('unmatched asks selected providers without a match; a placeholder name gives way', async (t) => {
  const { known, blank } = await prepare('genesis')
  alpha.identify = () => ({ id: 9, name: 'Blank by Alpha', summary: 'found' })
  digest.identify = () => null
  const status = await scan({ type: 'unmatched', apis: ['alpha', 'digest'], platform_fs_slugs: ['genesis'] })
  t.same(asked(), { alpha: [`identify ${blank.fs_name}`], beta: [], digest: [`identify ${blank.fs_name}`] })
  t.match(await rom('genesis', blank.fs_name), { name: 'Blank by Alpha', summary: 'found', tags: ['kept'], crc_hash: 'stale' })
  t.match(await rom('genesis', known.fs_name), { name: 'Known by Alpha' })
  t.equal((await roms('genesis')).length, 2)
  t.match(status.meta.scan_stats, { scanned_roms: 3, new_roms: 0, identified_roms: 1 })
})

t.test("unmatched looks up the id that another provider's match gave", async (t) => {
  await prepare('sms')
  digest.identify = (game) => game.fs_name.startsWith('Blank') ? { id: 71, ids: { alpha: 90 } } : null
  await scan({ type: 'unmatched', apis: ['digest'], platform_fs_slugs: ['sms'] })
  alpha.getById = (id) => ({ id: Number(id), name: 'By its number' })
  await scan({ type: 'unmatched', apis: ['alpha'], platform_fs_slugs: ['sms'] })
  t.same(alpha.calls.map((call) => call.id), [90])
  t.match(await rom('sms', 'Blank (Europe).bin'), { name: 'By its number', ids: { alpha: '90', digest: '71' } })
})

t.test('complete matches all entries from scratch and clears unselected providers', async (t) => {
  const { known } = await prepare('n64')
  await sql("update roms set url_cover = 'https://x.example/c.png', summary = 'old' where id = $1", [known.id])
  alpha.identify = (game) => ({ id: game.fs_name.length, name: `Again ${game.fs_name_no_tags}` })
  const status = await scan({ type: 'complete', apis: ['alpha'], platform_fs_slugs: ['n64'] })
  t.same(alpha.calls.map((call) => call.method), ['identify', 'identify', 'identify'])
  t.same([...beta.calls, ...digest.calls], [])
  const after = await rom('n64', known.fs_name)
  t.match(after, { name: 'Again Known', summary: null, url_cover: null, tags: [], revision: '1', regions: ['USA'] })
  t.same(Object.keys(after.ids), ['alpha'])
  t.not(after.crc_hash, 'stale')
  t.equal(after.id, known.id)
  t.match(status.meta.scan_stats, { new_roms: 1, updated_roms: 2, identified_roms: 3 })
})

t.test('complete without a provider clears all matches and uses the file name', async (t) => {
  const { known } = await prepare('nds')
  await scan({ type: 'complete', apis: [], platform_fs_slugs: ['nds'] })
  t.same(asked(), { alpha: [], beta: [], digest: [] })
  t.match(await rom('nds', known.fs_name), { name: 'Known', is_identified: false, ids: {} })
})

t.test('complete keeps the match of a provider that failed', async (t) => {
  const { known } = await prepare('psp')
  alpha.identify = () => { throw new Error('down') }
  await scan({ type: 'complete', apis: ['alpha'], platform_fs_slugs: ['psp'] })
  t.match(await rom('psp', known.fs_name), { name: 'Known by Alpha', ids: { alpha: '7' } })
})

t.test('hashes rereads every file and looks up known ROMs only where hashes decide', async (t) => {
  const { known, blank } = await prepare('atari2600')
  digest.identify = (game) => game.fs_name.startsWith('Blank') ? { id: 72, name: 'Blank by Digest' } : null
  const status = await scan({ type: 'hashes', platform_fs_slugs: ['atari2600'] })
  t.same(alpha.calls.map((call) => call.rom), ['New.bin'], 'a new ROM is looked up everywhere')
  t.same(digest.calls.map((call) => call.rom).sort(), ['Blank (Europe).bin', 'Known (USA) (Rev 1).bin', 'New.bin'])
  const after = await rom('atari2600', known.fs_name)
  t.same(after.ids, { alpha: '7', beta: 'b7' }, 'a match by hash that is surely none any more is dropped; what alpha links stays')
  t.match(after, { tags: ['kept'] })
  t.not(after.crc_hash, 'stale')
  t.match(await rom('atari2600', blank.fs_name), { name: 'Blank by Digest' })
  t.match(status.meta.scan_stats, { updated_roms: 2, new_roms: 1 })
})

t.test('a scan of named ROMs marks a ROM without its file missing, and no other', async (t) => {
  const { known, blank } = await prepare('jaguar')
  await rm(join(libraryDir, 'roms/jaguar', known.fs_name))
  await rm(join(libraryDir, 'roms/jaguar', blank.fs_name))
  const status = await scan({ roms_ids: [known.id] })
  t.equal((await rom('jaguar', known.fs_name)).missing_from_fs, true)
  t.equal((await rom('jaguar', blank.fs_name)).missing_from_fs, false)
  t.equal(status.meta.scan_stats.scanned_roms, 1)
})

t.test('platform ids and folder names combine; unknown ones are ignored', async (t) => {
  await put({ 'roms/wii/A.bin': 'a', 'roms/gc/B.bin': 'b', 'roms/dc/C.bin': 'c' })
  await scan({ type: 'update', platform_fs_slugs: ['wii'] })
  const [platform] = await sql<{ id: number }>("select id from platforms where fs_slug = 'wii'")
  const status = await scan({ platforms: [platform?.id ?? 0, 999_999], platform_fs_slugs: ['gc', 'no such folder'] })
  t.equal(status.meta.scan_stats.total_platforms, 2)
  t.equal((await roms('wii')).length + (await roms('gc')).length, 2)
  t.same(await roms('dc'), [])
})

t.test('no selection asks all providers, an empty one none, others only the selected', async (t) => {
  await put({ 'roms/ws/A.bin': 'a' })
  for (const [apis, expected] of [[[], []], [['beta'], []], [['alpha', 'igdb'], ['alpha']], [undefined, ['alpha', 'digest']]]) {
    await forget('ws')
    resetScripts()
    const status = await scan({ platform_fs_slugs: ['ws'], ...(apis === undefined ? {} : { apis }) })
    t.equal(status.status, 'finished')
    t.same(Object.entries(asked()).filter(([, calls]) => calls.length > 0).map(([key]) => key), expected, String(apis))
  }
})

t.test('a quick scan of an unchanged library makes no lookup and reads no file', async (t) => {
  await put({ 'roms/c64/A.bin': 'a', 'roms/c64/Folder/part 1.bin': 'b', 'roms/c64/Folder/update/part 2.bin': 'c' })
  await scan({ platform_fs_slugs: ['c64'] })
  resetScripts()
  await sql("update roms set crc_hash = 'stale' where fs_path = 'roms/c64'")
  const status = await scan({ platform_fs_slugs: ['c64'] })
  t.same(asked(), { alpha: [], beta: [], digest: [] })
  t.same((await roms('c64')).map((one) => one.crc_hash), ['stale', 'stale'])
  t.match(status.meta.scan_stats, { scanned_roms: 2, updated_roms: 0, new_roms: 0, new_files: 0 })
})
