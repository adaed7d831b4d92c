import t from 'tap'
import { makeIso, md5, noise } from './disc-images.ts'
import { makeZip } from './fixtures.ts'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { buildScanTest } from '../scans/support.ts'

const test = await buildScanTest(t, { providers: ['digest'] })
const { app, admin, put, scan, problems, sql } = test
const digest = scriptOf('digest')

t.beforeEach(resetScripts)

const nes = Buffer.concat([Buffer.from('NES\x1a'), noise(2000)])
const disc = makeIso({ 'PSX.EXE': noise(3000) })

async function hashesIn (folder: string) {
  const rows = await sql<{ path: string, hash: string | null }>(`select r.fs_name as path, r.ra_hash as hash from roms r
    join platforms p on p.id = r.platform_id where p.fs_slug = $1 order by r.fs_name`, [folder])
  return Object.fromEntries(rows.map(({ path, hash }) => [path, hash]))
}

t.test('a scan stores the RetroAchievements hash of each ROM', async (t) => {
  await put({
    'roms/gba/Game.gba': noise(100),
    'roms/gba/Zipped.zip': await makeZip([{ name: 'Game.gba', bytes: noise(101) }]),
    'roms/nes/Game.nes': nes,
    'roms/psx/Disc/Game.bin': disc,
    'roms/psx/Disc/Game.cue': 'FILE "Game.bin" BINARY\n TRACK 01 MODE1/2048\n INDEX 01 00:00:00\n',
    'roms/psx/Zipped.zip': await makeZip([{ name: 'Game.bin', bytes: disc }]),
    'roms/arcade/pacman.zip': await makeZip([{ name: 'a.1', bytes: noise(10) }]),
    'roms/win/Game/game.exe': noise(500),
    'roms/win/Setup.exe': noise(600),
    'roms/amiga/Game.adf': noise(50)
  })
  const task = await scan({})
  t.same(problems(task), [])
  t.strictSame(await hashesIn('gba'), { 'Game.gba': md5(noise(100)), 'Zipped.zip': md5(noise(101)) })
  t.strictSame(await hashesIn('nes'), { 'Game.nes': md5(nes.subarray(16)) })
  t.strictSame(await hashesIn('psx'), { Disc: md5('PSX.EXE', noise(3000)), 'Zipped.zip': null })
  t.strictSame(await hashesIn('arcade'), { 'pacman.zip': md5('pacman') })
  t.strictSame(await hashesIn('win'), { Game: md5(noise(500)), 'Setup.exe': null })
  t.strictSame(await hashesIn('amiga'), { 'Game.adf': null })
  t.strictSame(await sql("select file_name, ra_hash from rom_files where file_name like 'Game.%' and file_path like '%Disc' order by 1"),
    [{ file_name: 'Game.bin', ra_hash: null }, { file_name: 'Game.cue', ra_hash: md5('PSX.EXE', noise(3000)) }])
})

t.test('providers and the API get the RetroAchievements hash, and it finds the ROM', async (t) => {
  const raHash = md5(nes.subarray(16))
  const seen: unknown[] = []
  digest.identify = (rom) => {
    seen.push(rom.ra_hash)
    return null
  }
  await scan({ type: 'complete', platform_fs_slugs: ['nes'] })
  t.strictSame(seen, [raHash])
  const found = await app.inject({ url: `/api/roms/by-hash?ra_hash=${raHash.toUpperCase()}`, headers: admin })
  t.match(found.json(), { fs_name: 'Game.nes', ra_hash: raHash, files: [{ ra_hash: raHash }] })
})

t.test('a disc that cannot be read is stored without the hash, and reported', async (t) => {
  await put({
    'roms/psx/Lost.cue': 'FILE "Absent.bin" BINARY\n TRACK 01 MODE1/2048\n INDEX 01 00:00:00\n',
    'roms/psx/Broken.chd': noise(500)
  })
  const task = await scan({ platform_fs_slugs: ['psx'] })
  t.match(problems(task).sort(), [
    /^roms\/psx\/Broken\.chd: no RetroAchievements hash: it is not a CHD/, /^roms\/psx\/Lost\.cue: no RetroAchievements hash: ENOENT/])
  t.match(await hashesIn('psx'), { 'Broken.chd': null, 'Lost.cue': null })
})

t.test('a ROM whose content changed gets another hash', async (t) => {
  await put({ 'roms/gba/Game.gba': noise(200, 9) })
  await scan({ platform_fs_slugs: ['gba'] })
  t.match(await hashesIn('gba'), { 'Game.gba': md5(noise(200, 9)) })
  t.match(await sql("select ra_hash from rom_files where file_name = 'Game.gba'"), [{ ra_hash: md5(noise(200, 9)) }])
})
