import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { makeZip } from '../hashing/fixtures.ts'
import { asOtherUser, canOtherUserStartNode, makeReachableFolder } from '../library/other-user.ts'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { createTestDatabase, overTcp } from '../../support.ts'
import { type ScanTestOptions, buildScanTest } from './support.ts'

/** Builds a test in which another user, who cannot reach the socket of the database, may read the library. */
const buildReachable = async (t: Test, options: ScanTestOptions) => await buildScanTest(t, {
  ...options,
  databaseUrl: overTcp(await createTestDatabase(t)),
  env: { SVC_LIBRARY_DIR: await makeReachableFolder(t, {}) }
})

const test = await buildReachable(t, { providers: ['alpha', 'digest'], builtIns: ['gamelist'] })
const { put, scan, rom, roms, problems, libraryDir, sql } = test
const digest = scriptOf('digest')

t.beforeEach(resetScripts)

const at = (path: string) => join(libraryDir, path)

t.test('a corrupt archive is stored with the hashes of its own bytes, and reported', async (t) => {
  const zip = await makeZip([{ name: 'game.bin', bytes: Buffer.from('content '.repeat(50)) }])
  await put({ 'roms/snes/Cut.zip': zip.subarray(0, zip.length - 30), 'roms/snes/Good.zip': zip })
  const status = await scan({ platform_fs_slugs: ['snes'] })
  t.match(problems(status), [/^roms\/snes\/Cut\.zip: /])
  const [cut, good] = await roms('snes')
  t.match(cut?.sha1_hash, /^[0-9a-f]{40}$/)
  t.not(cut?.sha1_hash, good?.sha1_hash)
  t.match(await sql("select archive_members from rom_files where file_name = 'Good.zip'"),
    [{ archive_members: [{ name: 'game.bin', size: 400 }] }])
})

t.test('member names that the database refuses are not stored', async (t) => {
  const zip = await makeZip([{ name: 'a\u0001b.bin', bytes: Buffer.from('one') }])
  await put({ 'roms/nul/Bad name.zip': Buffer.from(zip.toString('latin1').replaceAll('\u0001', '\0'), 'latin1'), 'roms/nul/Next.bin': 'x' })
  const status = await scan({ platform_fs_slugs: ['nul'] })
  t.equal(status.status, 'finished')
  t.same((await roms('nul')).map((one) => one.fs_name), ['Bad name.zip', 'Next.bin'])
})

const NEEDS_NODE = canOtherUserStartNode() ? false : 'the other user cannot start Node in this checkout'

t.test('a file that may not be read is stored without hashes, and reported', { skip: NEEDS_NODE }, async (t) => {
  // Starts its own server, because the other user must start the process that hashes.
  const { put, scan, roms, problems, libraryDir } = await buildReachable(t, { providers: ['alpha'] })
  const at = (path: string) => join(libraryDir, path)
  await put({ 'roms/nes/Closed.nes': 'closed', 'roms/nes/Open.nes': 'open' })
  await asOtherUser(t, at('roms/nes/Closed.nes'), async () => {
    const status = await scan({ platform_fs_slugs: ['nes'] })
    t.match(problems(status), [/^roms\/nes\/Closed\.nes: not hashed: .*(EACCES|permission)/])
    t.match(await roms('nes'), [{ fs_name: 'Closed.nes', crc_hash: /^$/ }, { fs_name: 'Open.nes', crc_hash: /^[0-9a-f]{8}$/ }])
  })
})

t.test('an unreadable platform folder is reported, and its ROMs are not marked missing', async (t) => {
  await put({ 'roms/closed/A.bin': 'a', 'roms/opened/B.bin': 'b', 'bios/opened/b.bin': 'bios' })
  await scan({ platform_fs_slugs: ['closed'] })
  await asOtherUser(t, at('roms/closed'), async () => {
    const status = await scan({ platform_fs_slugs: ['closed', 'opened'] })
    t.equal(status.status, 'finished')
    t.match(problems(status), [/^roms\/closed: .*no permission/])
    t.match(await roms('closed'), [{ missing_from_fs: false }])
    t.equal((await roms('opened')).length, 1)
    const [known] = await roms('closed')
    const named = await scan({ roms_ids: [known?.id ?? 0] })
    t.match(problems(named), [/no permission/])
    t.match(await roms('closed'), [{ missing_from_fs: false }])
  })
})

t.test('an unreadable firmware folder is reported, and its files are not marked missing', async (t) => {
  await put({ 'roms/fw/A.bin': 'a', 'bios/fw/one.bin': 'one' })
  await scan({ platform_fs_slugs: ['fw'] })
  await asOtherUser(t, at('bios/fw'), async () => {
    const status = await scan({ platform_fs_slugs: ['fw'] })
    t.match(problems(status), [/^bios\/fw: .*no permission/])
    t.match(await sql("select missing_from_fs from firmware where file_name = 'one.bin'"), [{ missing_from_fs: false }])
  })
})

t.test('names of any kind are stored as they are', async (t) => {
  const names = ['🎮 パズル (Japan).bin', 'line\nbreak.bin', `${'x'.repeat(251)}.bin`, ' leading.bin', "quote ' and \".bin",
    'back\\slash.bin', '100%.bin', '(USA).bin', '.hidden', '-rf', 'A & B <i>.bin', '%s $1 {{x}}.bin', 'e\u0301.bin']
  await put(Object.fromEntries(names.map((name) => [`roms/gb/${name}`, name])))
  const status = await scan({ platform_fs_slugs: ['gb'] })
  t.same(problems(status), [])
  t.same((await roms('gb')).map((one) => one.fs_name).sort(), names.sort())
  const again = await scan({ platform_fs_slugs: ['gb'] })
  t.match(again.meta.scan_stats, { new_roms: 0, updated_roms: 0, scanned_roms: names.length })
})

t.test('a name that is not valid UTF-8 is reported, and the rest is stored', async (t) => {
  await put({ 'roms/gba/Good.gba': 'good' })
  await writeFile(Buffer.concat([Buffer.from(at('roms/gba/bad-')), Buffer.from([0xff, 0xfe]), Buffer.from('.gba')]), 'bad')
  const status = await scan({ platform_fs_slugs: ['gba'] })
  t.same(problems(status), ['roms/gba/bad-\\xff\\xfe.gba: the name is not valid UTF-8; rename it'])
  t.same((await roms('gba')).map((one) => one.fs_name), ['Good.gba'])
})

t.test('a platform folder whose name leaves the library is reported', async (t) => {
  await put({ 'roms/n64/Good.z64': 'good', 'roms/a\\../Game.bin': 'game' })
  const status = await scan()
  await rm(at('roms/a\\..'), { recursive: true })
  t.same(problems(status).filter((problem) => problem.includes('..')), ['roms/a\\..: it leaves its folder through ".."; rename it'])
  t.same((await roms('n64')).map((one) => one.fs_name), ['Good.z64'])
})

t.test('a path too long for the database only skips its own ROM', async (t) => {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
  const noise = (seed: number) => Array.from({ length: 200 }, (_none, index) =>
    letters[(seed * 7919 + index * index * 104_729 + index * 31) % letters.length]).join('')
  const deep = Array.from({ length: 16 }, (_none, index) => noise(index + 1)).join('/')
  await put({ 'roms/deep/Good.bin': 'good', 'roms/deep/Other.bin': 'other' })
  await mkdir(at(`roms/deep/Folder/${deep}`), { recursive: true })
  await writeFile(at(`roms/deep/Folder/${deep}/a.bin`), 'deep')
  const status = await scan({ platform_fs_slugs: ['deep'] })
  t.equal(status.status, 'finished')
  const names = (await roms('deep')).map((one) => one.fs_name)
  t.ok(names.includes('Good.bin') && names.includes('Other.bin'), names.join())
  if (!names.includes('Folder')) t.match(problems(status), [/^roms\/deep\/Folder: it was not stored: /])
})

t.test('looping, dangling and outward links are reported and not followed', async (t) => {
  await put({ 'roms/psx/Game/disc.bin': 'disc' })
  await symlink('..', at('roms/psx/Game/up'))
  await symlink('nowhere', at('roms/psx/Dangling.bin'))
  await symlink('/etc', at('roms/psx/Outside'))
  await symlink('/etc/hostname', at('roms/psx/Outside.bin'))
  await symlink('Self.bin', at('roms/psx/Self.bin'))
  const status = await scan({ platform_fs_slugs: ['psx'] })
  t.same((await roms('psx')).map((one) => one.fs_name), ['Game'])
  t.equal(problems(status).length, 5, problems(status).join('\n'))
  const stored = await sql<{ file_path: string }>("select distinct file_path from rom_files where file_path like 'roms/psx%'")
  t.same(stored, [{ file_path: 'roms/psx/Game' }])
})

t.test('gamelist.xml and media are read if a platform folder is a link', async (t) => {
  const disk = await mkdtemp(join(tmpdir(), 'svc-linked-'))
  t.teardown(() => Promise.all([rm(disk, { recursive: true }), rm(at('roms/vectrex'))]))
  await mkdir(join(disk, 'images'))
  const png = await sharp({ create: { width: 60, height: 80, channels: 3, background: '#336699' } }).png().toBuffer()
  const games = ['A', 'B'].map((name) =>
    `<game><path>./${name}.bin</path><name>Listed ${name}</name><desc>A game.</desc><image>./images/${name}.png</image></game>`)
  const files = { 'gamelist.xml': `<gameList>${games.join('')}</gameList>`, 'A.bin': 'a', 'B.bin': 'b', 'images/A.png': png }
  for (const [name, content] of Object.entries(files)) await writeFile(join(disk, name), content)
  await symlink(at('roms/gb/outside.png'), join(disk, 'images/B.png'))
  await put({ 'roms/gb/outside.png': png.toString('latin1') })
  await symlink(disk, at('roms/vectrex'))
  await scan({ platform_fs_slugs: ['vectrex'], apis: ['gamelist'] })
  t.match(await roms('vectrex'), [
    { name: 'Listed A', path_cover_large: /^roms\// },
    { name: 'Listed B', path_cover_large: null }
  ], 'a link in the folder must not leave it')
})

t.test('a firmware link that leads out of the library is not read', async (t) => {
  await put({ 'roms/saturn/A.bin': 'a', 'bios/saturn/real.bin': 'real' })
  await symlink('/etc/hostname', at('bios/saturn/link.bin'))
  await scan({ platform_fs_slugs: ['saturn'] })
  t.same(await sql("select file_name from firmware where file_path = 'bios/saturn'"), [{ file_name: 'real.bin' }])
})

t.test('an empty platform folder has a row and no ROMs; an empty subfolder is reported', async (t) => {
  await mkdir(at('roms/lynx'))
  await mkdir(at('roms/ngp/Nothing in it'), { recursive: true })
  const status = await scan({ platform_fs_slugs: ['lynx', 'ngp'] })
  t.match(status.meta.scan_stats, { new_platforms: 2, new_roms: 0 })
  t.match(problems(status), [/^roms\/ngp\/Nothing in it: empty folder/])
})

t.test('a malicious gamelist.xml is reported, and the ROMs are stored', async (t) => {
  const bomb = ['<!DOCTYPE gameList [<!ENTITY a0 "lol">', ...Array.from({ length: 20 }, (_none, index) =>
    `<!ENTITY a${index + 1} "${`&a${index};`.repeat(10)}">`), ']>',
  '<gameList><game><path>./A.bin</path><name>&a20;</name></game></gameList>'].join('\n')
  await put({ 'roms/atari2600/gamelist.xml': bomb, 'roms/atari2600/A.bin': 'a' })
  await put({ 'roms/atari7800/gamelist.xml': '<gameList><game><path>./A.bin</path><name>Listed</name><desc>A game.</desc></game></gameList>', 'roms/atari7800/A.bin': 'a' })
  const status = await scan({ platform_fs_slugs: ['atari2600', 'atari7800'], apis: ['gamelist'] })
  t.equal(status.status, 'finished')
  t.match(await roms('atari2600'), [{ fs_name: 'A.bin', name: 'A' }])
  t.match(await roms('atari7800'), [{ fs_name: 'A.bin', name: 'Listed' }])
})

t.test('a game folder has the hashes of its top files; its parts have categories', async (t) => {
  await put({ 'roms/dc/Disc/track1.bin': 'one', 'roms/dc/Disc/track2.bin': 'two', 'roms/dc/Disc/update/patch.bin': 'three' })
  let seen: unknown
  digest.identify = (game) => {
    seen = game.files
    return null
  }
  await scan({ platform_fs_slugs: ['dc'], apis: ['digest'] })
  await put({ 'roms/dc/Disc/update/patch.bin': 'changed' })
  const before = (await rom('dc', 'Disc')).sha1_hash
  const status = await scan({ platform_fs_slugs: ['dc'] })
  t.equal((await rom('dc', 'Disc')).sha1_hash, before, 'deeper files are no part of it')
  t.equal(status.meta.scan_stats.updated_roms, 1)
  t.match(seen, [
    { file_name: 'track1.bin', is_top_level: true }, { file_name: 'track2.bin' },
    { file_name: 'patch.bin', category: 'update', is_top_level: false, file_path: 'roms/dc/Disc/update' }
  ])
})

t.test('a file that moved within its game keeps its row', async (t) => {
  await put({ 'roms/wii/Set/a.bin': 'content a', 'roms/wii/Set/b.bin': 'content b' })
  await scan({ platform_fs_slugs: ['wii'] })
  const ids = () => sql<{ id: number, file_name: string }>("select f.id, file_name from rom_files f join roms r on r.id = rom_id where fs_path = 'roms/wii' order by f.id")
  const before = await ids()
  await rename(at('roms/wii/Set/a.bin'), at('roms/wii/Set/renamed.bin'))
  await scan({ platform_fs_slugs: ['wii'] })
  t.same((await ids()).map((file) => file.id), before.map((file) => file.id))
  t.same((await ids()).map((file) => file.file_name), ['renamed.bin', 'b.bin'])
})

t.test('files of platforms without a hash database are not read', async (t) => {
  await put({ 'roms/switch/Huge.nsp': 'huge' })
  await scan({ platform_fs_slugs: ['switch'] })
  t.match(await roms('switch'), [{ crc_hash: '', sha1_hash: '' }])
})

t.test('scanning changes nothing in the library', async (t) => {
  const list = async () => (await readdir(libraryDir, { recursive: true, withFileTypes: true }))
    .map((entry) => join(entry.parentPath, entry.name)).sort()
  const before = await list()
  await scan({ type: 'complete' })
  t.same(await list(), before)
})
