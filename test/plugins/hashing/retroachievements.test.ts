import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { PLATFORMS } from '@svc/plugin-sdk'
import { RCheevos } from 'rcheevos'
import t, { type Test } from 'tap'
import { createHasher } from '../../../plugins/hashing/hasher.ts'
import { chooseFile } from '../../../plugins/hashing/retroachievements/choose-file.ts'
import { isWholeFile, ruleOf } from '../../../plugins/hashing/retroachievements/consoles.ts'
import { knownHash } from '../../../plugins/hashing/retroachievements/known-hash.ts'
import { consoleOf } from '../../../plugins/hashing/retroachievements/platforms.ts'
import { md5, noise } from './disc-images.ts'
import { FOLDERS, makeTar, makeZip, unpackFixture } from './fixtures.ts'

const reference = await RCheevos.initialize()
const hasher = createHasher({ folders: FOLDERS, threads: 1, excluded: { extensions: ['txt'] }, limits: { totalBytes: 1024 ** 2 } })
t.teardown(() => hasher.close())

const GAMECUBE = 16
const [N64, SNES, GBA, NES, PC_ENGINE, PSX, LYNX, DS, ARCADE] = [2, 3, 5, 7, 8, 12, 13, 18, 27]

function setUp (t: Test, files: Record<string, Uint8Array | string>) {
  const dir = t.testdir({})
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
  return (name: string, console: number) => hasher.hashRetroAchievements(join(dir, name), console)
}

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const startingWith = (text: string, length: number) => Buffer.concat([latin1(text), noise(length)])

function makeNds (): Buffer {
  const rom = noise(30_000)
  const fields = { 0x20: 0x1000, 0x2c: 5000, 0x30: 0x4000, 0x3c: 3000, 0x68: 29_000 }
  for (const [at, value] of Object.entries(fields)) rom.writeUInt32LE(value, Number(at))
  return rom
}

function makeSuperCard (): Buffer {
  const loader = Buffer.alloc(512)
  loader.write('2e0000ea', 0, 'hex')
  loader.write('44469600', 0xb0, 'hex')
  return Buffer.concat([loader, makeNds()])
}

const ROMS: Record<string, Buffer> = {
  plain: noise(20_000),
  'with a copier header': noise(0x4000 + 512),
  'with half a kilobyte more': noise(0x4000 + 512 + 1024),
  'with an iNES header': startingWith('NES\x1a', 20_000),
  'with an FDS header': startingWith('FDS\x1a', 20_000),
  'with a Lynx header': startingWith('LYNX\0', 20_000),
  'with a 7800 header': startingWith('\x01ATARI7800', 20_000),
  'in the byte order of the cartridge': startingWith('\x80\x37\x12\x40', 3000),
  'with swapped bytes': startingWith('\x37\x80\x40\x12', 300_000),
  'with swapped words': startingWith('\x40\x12\x37\x80', 3000),
  'of a 64DD': startingWith('\xe8\x48\xd3\x16', 3000),
  'of text': Buffer.from(':10\r\n:20\r:30\n\n:40'),
  'of text that ends with a line end': Buffer.from(':10\r\n:20\r\n'),
  'of a DS': makeNds(),
  'of a DS with a loader': makeSuperCard()
}

t.test('every rule for cartridges gives the hash of the RetroAchievements library', async (t) => {
  const hash = setUp(t, ROMS)
  // The GameCube has a content rule here, but not in the library.
  const consoles = Array.from({ length: 90 }, (_none, id) => id)
    .filter((id) => ruleOf(id) === 'content' && id !== GAMECUBE)
  const withOwnRules = consoles.filter((id) => !isWholeFile(id, 1))
  for (const [name, bytes] of Object.entries(ROMS)) {
    const asked = name === 'plain' ? consoles : withOwnRules
    const answers = await Promise.all(asked.map((console) => hash(name, console)))
    const content = Uint8Array.from(bytes).buffer
    const expected = asked.map((console) => ({ ra_hash: reference.computeHash(console, content) }))
    t.strictSame(answers, expected, `a ROM ${name}`)
  }
})

t.test('each platform of RetroAchievements has a rule, except eight', (t) => {
  const without = PLATFORMS.filter(({ slug, ra_id: id }) => id !== null && consoleOf(slug) === null)
  t.same(without.map(({ slug }) => slug).sort(),
    ['3ds', 'amiga', 'atari-st', 'atari5200', 'philips-cd-i', 'sega-pico', 'sharp-x68000', 'x1'])
  t.equal(PLATFORMS.filter(({ slug }) => consoleOf(slug) !== null).length, 61)
  t.equal(consoleOf('gba'), GBA)
  t.equal(consoleOf('switch'), null)
  t.end()
})

t.test('only the first 64 MiB count', async (t) => {
  const limit = 64 * 1024 ** 2
  const hash = setUp(t, { large: '' })
  truncateSync(join(t.testdirName, 'large'), limit + 512)
  t.strictSame(await hash('large', SNES), { ra_hash: md5(Buffer.alloc(limit)) }, 'and a copier header is looked for in them')
})

t.test('an archive counts as its largest member', async (t) => {
  const rom = startingWith('NES\x1a', 3000)
  const members = [
    { name: 'read me.txt', bytes: noise(5000) }, { name: 'a.nes', bytes: noise(20) }, { name: 'b.nes', bytes: rom }
  ]
  const hash = setUp(t, {
    'game.zip': await makeZip(members),
    'game.tar': await makeTar(members),
    'game.nes.gz': gzipSync(rom),
    'some.7z': unpackFixture('7z')
  })
  const expected = { ra_hash: md5(rom.subarray(16)) }
  for (const name of ['game.zip', 'game.tar', 'game.nes.gz']) t.strictSame(await hash(name, NES), expected, name)
  t.strictSame(await hash('some.7z', GBA), { ra_hash: md5('gamma\n'.repeat(100)) })
  t.strictSame(await hash('game.zip', PSX), { ra_hash: null }, 'discs are not looked for in archives')
})

t.test('the hash made with other hashes equals the one made alone', async (t) => {
  const zipped = await Promise.all(Object.entries(ROMS).map(async ([name, bytes]) =>
    [`${name}.zip`, await makeZip([{ name: 'a', bytes: noise(20) }, { name: 'rom', bytes }])] as const))
  const files = { ...ROMS, ...Object.fromEntries(zipped), 'some.7z': unpackFixture('7z') }
  const hash = setUp(t, files)
  for (const console of [N64, NES, LYNX, DS]) {
    for (const name of Object.keys(files)) {
      const { retroachievements } = await hasher.hashFile(join(t.testdirName, name), { console })
      t.strictSame(retroachievements, await hash(name, console), `${name} for ${console}`)
    }
  }
})

t.test('a rule can read parts of an archive member backwards', async (t) => {
  const rom = makeNds()
  rom.writeUInt32LE(0x300, 0x68)
  const hash = setUp(t, { 'game.zip': await makeZip([{ name: 'game.nds', bytes: rom }]), 'game.nds': rom })
  const { ra_hash: found } = await hash('game.zip', DS)
  t.equal(found, reference.computeHash(DS, Uint8Array.from(rom).buffer))
  t.equal(found, (await hash('game.nds', DS)).ra_hash)
})

t.test('unreadable files have a warning, files of other consoles have none', async (t) => {
  const zip = await makeZip([{ name: 'a.nes', bytes: noise(3000) }])
  const short = makeNds().subarray(0, 6000)
  const hash = setUp(t, {
    'cut.zip': zip.subarray(0, zip.length - 20),
    'bomb.gz': gzipSync(Buffer.alloc(2 * 1024 ** 2)),
    'short.nds': short,
    empty: ''
  })
  for (const [name, console] of [['cut.zip', NES], ['bomb.gz', NES], ['short.nds', DS]] as const) {
    const { ra_hash: found, warning } = await hash(name, console)
    t.equal(found, null, name)
    t.type(warning, 'string', `${name}: ${warning}`)
  }
  for (const console of [GBA, SNES, N64, DS, GAMECUBE, LYNX]) t.strictSame(await hash('empty', console), { ra_hash: null })
  t.strictSame(await hash('short.nds', N64), { ra_hash: null })
  await t.rejects(hash('absent', GBA), { code: 'ENOENT' })
})

t.test('an aborted signal rejects at once', async (t) => {
  const signal = AbortSignal.abort()
  await t.rejects(hasher.hashRetroAchievements('anything', GBA, { signal }), { name: 'AbortError' })
})

const file = (name: string, size = 1, category: string | null = null) =>
  ({ file_name: name, file_size_bytes: size, category })

t.test('the representative file of an entry is chosen by kind and size', (t) => {
  const choose = (files: ReturnType<typeof file>[], console: number) => {
    const index = chooseFile('folder', files, console)
    return index === null ? null : files[index]?.file_name
  }
  const all = [file('a.bin', 900), file('b.cue'), file('b.gdi', 2), file('c.m3u', 3), file('d.zip', 500), file('e.7z', 600),
    file('f.CHD', 10), file('g.chd', 20)]
  const expected = ['g.chd', 'f.CHD', 'e.7z', 'd.zip', 'b.cue', 'b.gdi', 'c.m3u', 'a.bin']
  for (const [turn, name] of expected.entries()) {
    t.equal(choose(all.filter((one) => !expected.slice(0, turn).includes(one.file_name)), GBA), name)
  }
  t.equal(choose([file('d.zip', 500), file('b.cue')], PSX), 'b.cue', 'no archive for a disc')
  t.equal(choose([file('d.zip', 500)], PSX), null)
  t.equal(choose([file('a.gba', 5), file('song.flac', 900, 'soundtrack')], GBA), 'a.gba')
  t.equal(choose([file('song.flac', 900, 'soundtrack')], GBA), 'song.flac')
  t.equal(chooseFile('file', [file('d.zip')], PSX), null)
  t.equal(chooseFile('file', [file('d.zip')], GBA), 0)
  t.equal(chooseFile('file', [file('game.exe')], 102), null, 'a game for Windows is a folder')
  t.equal(chooseFile('folder', [file('game.exe')], 102), 0)
  t.end()
})

t.test('known hashes are reused without reading the file', (t) => {
  const at = (name: string, size = 1000, folder = 'roms/x') =>
    ({ file_name: name, file_path: folder, absolute_path: `/library/${folder}/${name}`, file_size_bytes: size })
  const hashes = { crc_hash: '1', md5_hash: 'plain', sha1_hash: '3', chd_sha1_hash: null, archive_members: null }
  const member = (name: string, size: number, md5Hash: string) =>
    ({ name, size, crc_hash: '', md5_hash: md5Hash, sha1_hash: '' })
  const zipped = { ...hashes, archive_members: [member('b', 9, 'second'), member('a', 9, 'first'), member('c', 8, 'third')] }
  t.equal(knownHash(GBA, at('game.gba'), hashes), 'plain')
  t.equal(knownHash(GBA, at('game.zip'), zipped), 'first')
  t.equal(knownHash(SNES, at('game.sfc', 0x8000), hashes), 'plain')
  t.equal(knownHash(SNES, at('game.smc', 0x8200), hashes), null, 'with a copier header')
  t.equal(knownHash(PC_ENGINE, at('game.pce', 0x8000), hashes), 'plain')
  for (const unknown of [at('game.m3u'), at('game.gba', 64 * 1024 ** 2 + 1), at('game.gba', 0), at('game.gz'), at('game.zip')]) {
    t.equal(knownHash(GBA, unknown, hashes), null, unknown.file_name)
  }
  t.equal(knownHash(GBA, at('game.zip'), { ...hashes, warning: 'broken' }), null)
  t.equal(knownHash(GBA, at('game.gba'), null), null)
  for (const console of [N64, NES, LYNX, DS, PSX, GAMECUBE]) t.equal(knownHash(console, at('game.bin'), hashes), null)
  t.equal(knownHash(ARCADE, at('pacman.zip'), null), md5('pacman'))
  t.equal(knownHash(ARCADE, at('no extension'), null), md5('no extension'))
  t.equal(knownHash(ARCADE, at('sonic.zip', 1, 'roms/arcade/MegaDrive'), null), md5('megadrive_sonic'))
  t.end()
})
