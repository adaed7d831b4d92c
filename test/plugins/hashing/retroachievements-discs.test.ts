import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateRawSync, deflateSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { createHasher } from '../../../plugins/hashing/hasher.ts'
import { FOLDERS } from './fixtures.ts'
import { CHD_FILES, CHDS, makeIso, md5, noise, SECTOR, toRaw } from './disc-images.ts'

const hasher = createHasher({ folders: FOLDERS, threads: 1 })
t.teardown(() => hasher.close())

const [SEGA_CD, PSX, GAMECUBE, WII, PS2, SATURN, DREAMCAST, PSP] = [9, 12, 16, 19, 21, 39, 40, 41]
const [THREE_DO, PC_FX, NEO_GEO_CD, PC_ENGINE_CD, JAGUAR_CD] = [43, 49, 56, 76, 77]

function setUp (t: Test, files: Record<string, Uint8Array | string>) {
  const dir = t.testdir({})
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), content)
  }
  return { dir, hash: (name: string, console: number) => hasher.hashRetroAchievements(join(dir, name), console) }
}

const cue = (file: string, mode: string) => `FILE "${file}" BINARY\r\n  TRACK 01 ${mode}\r\n    INDEX 01 00:00:00\r\n`

function makeProgram (size: number): Buffer {
  const program = Buffer.concat([Buffer.from('PS-X EXE'), noise(size + 5000)])
  program.writeUInt32LE(size, 28)
  return program
}

t.test('PlayStation: the name and bytes of the boot program, in images of any kind', async (t) => {
  const program = makeProgram(6000)
  const iso = makeIso({ 'SYSTEM.CNF': Buffer.from('BOOT = cdrom:\\SLUS_000.01;1\r\nTCB = 4\r\n'), 'SLUS_000.01': program })
  const { hash } = setUp(t, {
    'a.iso': iso,
    'mode1.bin': toRaw(iso, 1),
    'mode2.bin': toRaw(iso, 2),
    'a.cue': cue('mode2.bin', 'MODE2/2352'),
    'lying.cue': cue('mode1.bin', 'MODE2/2352'),
    'discs.m3u': '#EXTM3U\r\n\r\nsub/b.cue\r\na.cue\r\n',
    'sub/b.cue': cue('b.bin', 'MODE1/2352'),
    'sub/b.bin': toRaw(iso, 1)
  })
  const expected = { ra_hash: md5('SLUS_000.01', program.subarray(0, 6000 + 2048)) }
  for (const name of ['a.iso', 'mode1.bin', 'mode2.bin', 'a.cue', 'lying.cue', 'discs.m3u']) {
    t.strictSame(await hash(name, PSX), expected, name)
  }
  t.strictSame(await hash('a.iso', PS2), { ra_hash: null }, 'another console')
})

t.test('PlayStation: without SYSTEM.CNF, PSX.EXE is hashed, in full if it has no header', async (t) => {
  const { hash } = setUp(t, { 'a.iso': makeIso({ 'PSX.EXE': noise(3000) }), 'b.iso': makeIso({ 'OTHER.EXE': noise(10) }) })
  t.strictSame(await hash('a.iso', PSX), { ra_hash: md5('PSX.EXE', noise(3000)) })
  t.strictSame(await hash('b.iso', PSX), { ra_hash: null })
})

t.test('a CHD is read with every supported codec', async (t) => {
  const { hash } = setUp(t, Object.fromEntries(Object.entries(CHDS).map(([name, base64]) =>
    [`${name}.chd`, Buffer.from(base64, 'base64')])))
  const expected = { ra_hash: md5('SLUS_000.01', CHD_FILES['SLUS_000.01']) }
  for (const name of Object.keys(CHDS)) t.strictSame(await hash(`${name}.chd`, PSX), expected, name)
})

t.test('V16: a broken CHD only loses its hash', async (t) => {
  const chd = Buffer.from(CHDS.cdlz, 'base64')
  const broken = (change: (bytes: Buffer) => unknown) => {
    const bytes = Buffer.from(chd)
    change(bytes)
    return bytes
  }
  const { hash } = setUp(t, {
    'cut.chd': chd.subarray(0, 300),
    'none.chd': noise(400),
    'large.chd': broken((bytes) => bytes.writeBigUInt64BE(2n ** 62n, 32)),
    'hunk.chd': broken((bytes) => bytes.writeUInt32BE(0xffffffff, 56)),
    'map.chd': broken((bytes) => bytes.fill(0xff, Number(bytes.readBigUInt64BE(40)))),
    'data.chd': broken((bytes) => bytes.fill(0x5a, 300, 700)),
    'child.chd': broken((bytes) => bytes.fill(1, 104, 124))
  })
  for (const name of ['cut', 'none', 'large', 'hunk', 'map', 'data', 'child']) {
    const { ra_hash: found, warning } = await hash(`${name}.chd`, PSX)
    t.equal(found, null)
    t.type(warning, 'string', `${name}: ${warning}`)
  }
})

t.test('a sheet may only name files of its own folder', async (t) => {
  const iso = makeIso({ 'PSX.EXE': noise(3000) })
  const { dir, hash } = setUp(t, {
    'secret.bin': iso,
    'game/a.cue': cue('../secret.bin', 'MODE1/2048'),
    'game/b.cue': cue('link.bin', 'MODE1/2048'),
    'game/c.cue': cue('absent.bin', 'MODE1/2048'),
    'game/d.m3u': '../secret.bin\n',
    'game/e.m3u': 'e.m3u\n',
    'game/f.m3u': '#\n'
  })
  symlinkSync('../secret.bin', join(dir, 'game/link.bin'))
  for (const name of ['a.cue', 'b.cue', 'd.m3u']) {
    t.match(await hash(`game/${name}`, PSX), { ra_hash: null, warning: /refused/ }, name)
  }
  await t.rejects(hash('game/c.cue', PSX), { code: 'ENOENT' })
  for (const name of ['e.m3u', 'f.m3u']) t.strictSame(await hash(`game/${name}`, PSX), { ra_hash: null }, name)
})

t.test('PlayStation 2: the boot program of another line of the settings', async (t) => {
  const program = Buffer.concat([Buffer.from('\x7fELF'), noise(3000)])
  const { hash } = setUp(t, {
    'a.iso': makeIso({ 'SYSTEM.CNF': Buffer.from('BOOT2 = cdrom0:\\SLUS_123.45;1\nVER = 1\n'), 'SLUS_123.45': program })
  })
  t.strictSame(await hash('a.iso', PS2), { ra_hash: md5('SLUS_123.45', program) })
})

const CSO_BLOCK = 2048
const DAX_BLOCK = 8192

const blocksOf = (image: Buffer, size: number) =>
  Array.from({ length: Math.ceil(image.length / size) }, (_none, index) =>
    image.subarray(index * size, (index + 1) * size))

/** Makes a CISO or ZISO image in which every third block is stored unpacked. */
function makeCiso (magic: string, image: Buffer, pack: (block: Buffer) => Buffer): Buffer {
  const blocks = blocksOf(image, CSO_BLOCK)
  const header = Buffer.alloc(24 + (blocks.length + 1) * 4)
  header.write(magic)
  header.writeBigUInt64LE(BigInt(image.length), 8)
  header.writeUInt32LE(CSO_BLOCK, 16)
  header[20] = 1
  const packed = blocks.map((block, index) => index % 3 === 0 ? block : pack(block))
  let at = header.length
  for (const [index, block] of [...packed, Buffer.alloc(0)].entries()) {
    header.writeUInt32LE((at | (index % 3 === 0 ? 0x80000000 : 0)) >>> 0, 24 + index * 4)
    at += block.length
  }
  return Buffer.concat([header, ...packed])
}

/** Packs blocks of a single byte value as a repetition, others as literals. */
function packLz4 (block: Buffer): Buffer {
  const first = block[0] ?? 0
  const rest = (length: number) => [...Array<number>(Math.floor((length - 15) / 255)).fill(255), (length - 15) % 255]
  if (block.every((byte) => byte === first)) return Buffer.from([0x1f, first, 1, 0, ...rest(block.length - 1 - 4)])
  return Buffer.concat([Buffer.from([0xf0, ...rest(block.length)]), block])
}

function makeDax (image: Buffer): Buffer {
  const blocks = blocksOf(image, DAX_BLOCK).map((block, index) => index === 1 ? block : deflateSync(block))
  const header = Buffer.alloc(32 + blocks.length * 6 + 8)
  header.write('DAX\0', 'latin1')
  header.writeUInt32LE(image.length, 4)
  header.writeUInt32LE(1, 8)
  header.writeUInt32LE(1, 12)
  let at = header.length
  for (const [index, block] of blocks.entries()) {
    header.writeUInt32LE(at, 32 + index * 4)
    header.writeUInt16LE(block.length, 32 + blocks.length * 4 + index * 2)
    at += block.length
  }
  header.writeUInt32LE(1, 32 + blocks.length * 6)
  header.writeUInt32LE(1, 32 + blocks.length * 6 + 4)
  return Buffer.concat([header, ...blocks])
}

t.test('PSP: description and program, plain or compressed; homebrew as a whole', async (t) => {
  const description = noise(900, 3)
  const program = Buffer.concat([noise(20_000, 4), Buffer.alloc(9000)])
  const iso = makeIso({ 'PSP_GAME/PARAM.SFO': description, 'PSP_GAME/SYSDIR/EBOOT.BIN': program })
  const { hash } = setUp(t, {
    'a.iso': iso,
    'a.cso': makeCiso('CISO', iso, deflateRawSync),
    'a.zso': makeCiso('ZISO', iso, packLz4),
    'a.dax': makeDax(iso),
    'EBOOT.PBP': noise(500),
    'cut.cso': makeCiso('CISO', iso, deflateRawSync).subarray(0, 8000),
    'none.cso': noise(500),
    'cut.zso': makeCiso('ZISO', iso, () => Buffer.from([0xf0, 255]))
  })
  for (const name of ['a.iso', 'a.cso', 'a.zso', 'a.dax']) {
    t.strictSame(await hash(name, PSP), { ra_hash: md5(description, program) }, name)
  }
  t.strictSame(await hash('EBOOT.PBP', PSP), { ra_hash: md5(noise(500)) })
  for (const name of ['cut.cso', 'none.cso']) t.match(await hash(name, PSP), { ra_hash: null, warning: String })
  t.match(await hash('cut.zso', PSP), { ra_hash: null, warning: 'the packed data is broken' })
})

t.test('Sega CD and Saturn: the headers', async (t) => {
  const header = (text: string) => Buffer.concat([Buffer.from(text), noise(2032)])
  const { hash } = setUp(t, {
    'a.iso': makeIso({}, { head: header('SEGADISCSYSTEM  ') }),
    'b.bin': toRaw(makeIso({}, { head: header('SEGA SEGASATURN ') }), 1)
  })
  t.strictSame(await hash('a.iso', SEGA_CD), { ra_hash: md5(header('SEGADISCSYSTEM  ').subarray(0, 512)) })
  t.strictSame(await hash('b.bin', SATURN), { ra_hash: md5(header('SEGA SEGASATURN ').subarray(0, 512)) })
  t.strictSame(await hash('a.iso', DREAMCAST), { ra_hash: null })
})

t.test('Dreamcast: the header and the boot program, on track 3 of a GD-ROM', async (t) => {
  const head = Buffer.alloc(256)
  head.write('SEGA SEGAKATANA ')
  head.write('1ST_READ.BIN    ', 96)
  const boot = noise(5000, 7)
  const gd = toRaw(makeIso({ '1ST_READ.BIN': boot }, { address: 45_000, head }), 1, 45_000)
  const { hash } = setUp(t, {
    'a.gdi': '3\n1 0 4 2352 "track 1.bin" 0\n2 450 0 2352 track2.raw 0\n3 45000 4 2352 track3.bin 0\n',
    'track 1.bin': toRaw(makeIso({}), 1),
    'track2.raw': noise(2352),
    'track3.bin': gd,
    'mil.cue': cue('mil.bin', 'MODE1/2352'),
    'mil.bin': toRaw(makeIso({ '1ST_READ.BIN': boot }, { head }), 1)
  })
  for (const name of ['a.gdi', 'mil.cue']) t.strictSame(await hash(name, DREAMCAST), { ra_hash: md5(head, boot) }, name)
})

function makePcEngineCd (program: Buffer): Buffer {
  const header = Buffer.alloc(SECTOR)
  header.set([0, 0, 2, program.length / SECTOR])
  header.write('PC Engine CD-ROM SYSTEM', 32)
  header.write('A title of 22 letters!', 106)
  return Buffer.concat([Buffer.alloc(SECTOR), header, program, Buffer.alloc(SECTOR * 20)])
}

t.test('PC Engine CD: title and boot program of the first data track, after its pregap', async (t) => {
  const program = noise(SECTOR * 3, 11)
  const disc = makePcEngineCd(program)
  const { hash } = setUp(t, {
    'one.bin': Buffer.concat([noise(2352 * 10), toRaw(Buffer.concat([Buffer.alloc(SECTOR * 150), disc]), 1, 10)]),
    'one.cue': 'FILE "one.bin" BINARY\n TRACK 01 AUDIO\n  INDEX 01 00:00:00\n' +
      ' TRACK 02 MODE1/2352\n  INDEX 00 00:00:10\n  INDEX 01 00:02:10\n',
    'audio.bin': noise(2352 * 10),
    'data.bin': disc,
    'two.cue': 'FILE audio.bin BINARY\n TRACK 01 AUDIO\n  INDEX 01 00:00:00\n' +
      'FILE data.bin BINARY\n TRACK 02 MODE1/2048\n  PREGAP 00:02:00\n  INDEX 01 00:00:00\n'
  })
  for (const name of ['one.cue', 'two.cue']) {
    t.strictSame(await hash(name, PC_ENGINE_CD), { ra_hash: md5('A title of 22 letters!', program) }, name)
  }
})

t.test('PC-FX: the header and the boot program of the largest data track', async (t) => {
  const header = Buffer.alloc(SECTOR)
  header.write('A game')
  header.writeUIntLE(2, 32, 3)
  header.writeUIntLE(2, 36, 3)
  const program = noise(SECTOR * 2)
  const mark = Buffer.alloc(SECTOR)
  mark.write('PC-FX:Hu_CD-ROM')
  const { hash } = setUp(t, {
    'small.bin': Buffer.alloc(SECTOR * 2),
    'data.bin': Buffer.concat([mark, header, program, Buffer.alloc(SECTOR * 20)]),
    'a.cue': cue('small.bin', 'MODE1/2048') + cue('data.bin', 'MODE1/2048').replace('01', '02')
  })
  t.strictSame(await hash('a.cue', PC_FX), { ra_hash: md5(header.subarray(0, 128), program) })
})

t.test('Neo Geo CD: the programs that are loaded first', async (t) => {
  const { hash } = setUp(t, {
    'a.iso': makeIso({
      'IPL.TXT': Buffer.from('FIX.FIX,0,0\r\nPROG1.PRG,0,0\r\nprog2.prg,0,80000\r\n\x1a'),
      'PROG1.PRG': noise(3000, 1),
      'PROG2.PRG': noise(100, 2)
    }),
    'b.iso': makeIso({ 'IPL.TXT': Buffer.from('PROG1.PRG,0,0\r\n') })
  })
  t.strictSame(await hash('a.iso', NEO_GEO_CD), { ra_hash: md5(noise(3000, 1), noise(100, 2)) })
  t.strictSame(await hash('b.iso', NEO_GEO_CD), { ra_hash: null })
})

t.test('3DO: the volume and the boot program', async (t) => {
  const disc = Buffer.alloc(SECTOR * 30)
  disc.write('015a5a5a5a5a01', 'hex')
  disc.writeUInt32BE(SECTOR, 0x4c)
  disc.writeUInt32BE(1, 0x64)
  const entry = (at: number, name: string, kind: number, size: number, block: number) => {
    disc.writeUInt32BE(kind, at)
    disc.writeUInt32BE(SECTOR, at + 0x0c)
    disc.writeUInt32BE(size, at + 0x10)
    disc.write(name, at + 0x20)
    disc.writeUInt32BE(block, at + 0x44)
  }
  // Two blocks of a folder; the second has the program.
  for (const [at, next] of [[SECTOR, 1], [SECTOR * 2, 0xffff]] as const) {
    disc.writeUInt16BE(next, at + 2)
    disc.writeUInt32BE(0x14 + 0x48, at + 0x0c)
    disc.writeUInt32BE(0x14, at + 0x10)
  }
  entry(SECTOR + 0x14, 'Other', 2, 10, 9)
  entry(SECTOR * 2 + 0x14, 'launchme', 2, 5000, 5)
  noise(5000).copy(disc, SECTOR * 5)
  const { hash } = setUp(t, { 'a.iso': disc })
  t.strictSame(await hash('a.iso', THREE_DO), { ra_hash: md5(disc.subarray(0, 132), noise(5000)) })
})

t.test('Jaguar CD: the boot program of the second session, in either byte order', async (t) => {
  const program = noise(5000)
  const start = Buffer.concat([Buffer.alloc(66), Buffer.from('ATARI APPROVED DATA HEADER ATRI '), Buffer.alloc(8), program])
  start.writeUInt32BE(program.length, 66 + 32 + 4)
  const track = Buffer.concat([start, Buffer.alloc(2352 * 30 - start.length)])
  const sheet = (file: string) => `REM SESSION 01\n${cue('warning.bin', 'AUDIO')}REM SESSION 02\n` +
    cue(file, 'AUDIO').replace('TRACK 01', 'TRACK 02')
  const { hash } = setUp(t, {
    'warning.bin': noise(2352), 'big.bin': track, 'little.bin': Buffer.from(track).swap16(),
    'big.cue': sheet('big.bin'), 'little.cue': sheet('little.bin')
  })
  for (const name of ['big.cue', 'little.cue']) t.strictSame(await hash(name, JAGUAR_CD), { ra_hash: md5(program) }, name)
})

/** Writes a loader of 0x100 and 0x20 bytes; the program at 0x5000 has one segment. */
function writePrograms (disc: Buffer, start: number, unit: number): Buffer[] {
  disc.writeUInt32BE(0x100, start + 0x2454)
  disc.writeUInt32BE(0x20, start + 0x2458)
  disc.writeUInt32BE(0x5000 / unit, start + 0x420)
  disc.writeUInt32BE(0x6000 / unit, start + 0x5000)
  disc.writeUInt32BE(0x800 / unit, start + 0x5000 + 0x90)
  noise(0x800).copy(disc, start + 0x6000)
  return [disc.subarray(start, start + 0x2440 + 0x20 + 0x120), noise(0x800)]
}

t.test('GameCube: the loader and the main program', async (t) => {
  const disc = Buffer.alloc(0x8000)
  disc.writeUInt32BE(0xc2339f3d, 0x1c)
  const parts = writePrograms(disc, 0, 1)
  const { hash } = setUp(t, { 'a.iso': disc, 'b.iso': Buffer.alloc(3000) })
  t.strictSame(await hash('a.iso', GAMECUBE), { ra_hash: md5(...parts) })
  t.strictSame(await hash('b.iso', GAMECUBE), { ra_hash: null })
})

function makeWiiDisc (isEncrypted: boolean): { disc: Buffer, parts: Buffer[] } {
  const disc = Buffer.alloc(0x80000)
  noise(0x18).copy(disc)
  disc.writeUInt32BE(0x5d1c9ea3, 0x18)
  disc[0x61] = isEncrypted ? 0 : 1
  disc.write('EUR!', 0x4e000)
  disc.writeUInt32BE(2, 0x40000)
  disc.writeUInt32BE(0x40020 / 4, 0x40004)
  const update = [0x50000 / 4, 1]
  const game = [0x58000 / 4, 0]
  for (const [index, value] of [...update, ...game].entries()) disc.writeUInt32BE(value, 0x40020 + index * 4)
  const fields = { 0x2a4: 0x208, 0x2a8: 0x2c0 / 4, 0x2b8: 0x60000 / 4, 0x2bc: 0x18000 / 4 }
  for (const [at, value] of Object.entries(fields)) disc.writeUInt32BE(value, 0x58000 + Number(at))
  noise(0x208, 5).copy(disc, 0x582c0)
  const start = [disc.subarray(0, 0x80), Buffer.from('EUR!'), noise(0x208, 5)]
  if (!isEncrypted) return { disc, parts: [...start, ...writePrograms(disc, 0x60000, 4)] }
  noise(0x18000, 6).copy(disc, 0x60000)
  return {
    disc, parts: [...start, ...[0, 1, 2].map((index) =>
      disc.subarray(0x60000 + index * 0x8000 + 0x400, 0x60000 + (index + 1) * 0x8000))]
  }
}

t.test('Wii: headers and partitions, encrypted or not, and the contents of shop titles', async (t) => {
  const [locked, open] = [makeWiiDisc(true), makeWiiDisc(false)]
  const wad = Buffer.alloc(0x1000)
  wad.writeUInt32BE(0x20, 0)
  wad.write('Is\0\0', 4, 'latin1')
  wad.writeUInt32BE(0x50, 8)
  wad.writeUInt32BE(0x30, 0x10)
  wad.writeUInt32BE(0x210, 0x14)
  const description = 0x40 + 0x80 + 0x40
  wad.writeUInt16BE(1, description + 0x1de)
  wad.writeBigUInt64BE(0x105n, description + 0x1e4 + 8)
  noise(0x110).copy(wad, description + 0x240)
  const { hash } = setUp(t, {
    'locked.iso': locked.disc, 'open.iso': open.disc, 'a.wad': wad, 'cut.iso': locked.disc.subarray(0, 0x60010)
  })
  t.strictSame(await hash('locked.iso', WII), { ra_hash: md5(...locked.parts) })
  t.strictSame(await hash('open.iso', WII), { ra_hash: md5(...open.parts) })
  t.strictSame(await hash('a.wad', WII), { ra_hash: md5(wad.subarray(description, description + 0x240), noise(0x110)) })
  t.match(await hash('cut.iso', WII), { ra_hash: null, warning: 'it ends too early' })
})
