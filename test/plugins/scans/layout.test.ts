import { createHash } from 'node:crypto'
import { mkdir, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { buildScanTest } from './support.ts'

/** Returns bytes of this length with this CRC-32; finds the last four by solving for each of their bits. */
function bytesWithCrc (length: number, wanted: number): Buffer {
  const bytes = Buffer.alloc(length)
  const base = crc32(bytes)
  const rows = Array.from({ length: 32 }, (_none, bit) => {
    bytes.writeUInt32LE(2 ** bit, length - 4)
    return { effect: (crc32(bytes) ^ base) >>> 0, bits: 2 ** bit }
  })
  let rest = (wanted ^ base) >>> 0
  let solution = 0
  for (let bit = 31; bit >= 0; bit--) {
    const index = rows.findIndex((row) => Math.clz32(row.effect) === 31 - bit)
    const [pivot] = index === -1 ? [] : rows.splice(index, 1)
    if (pivot === undefined) continue
    for (const row of rows) {
      if (((row.effect >>> bit) & 1) === 0) continue
      row.effect = (row.effect ^ pivot.effect) >>> 0
      row.bits = (row.bits ^ pivot.bits) >>> 0
    }
    if (((rest >>> bit) & 1) === 0) continue
    rest = (rest ^ pivot.effect) >>> 0
    solution = (solution ^ pivot.bits) >>> 0
  }
  bytes.writeUInt32LE(solution, length - 4)
  return bytes
}

const inside = await buildScanTest(t, { providers: [] })

t.test('structure B is detected: a folder for each platform with its ROMs and firmware', async (t) => {
  const { put, scan, roms, sql } = inside
  await put({ 'snes/roms/A.sfc': 'a', 'snes/bios/chip.bin': 'chip', 'nes/roms/B.nes': 'b', 'notes/readme.txt': 'no platform' })
  const status = await scan()
  t.match(status.meta.scan_stats, { total_platforms: 2, new_platforms: 2, new_roms: 2, new_firmware: 1 })
  t.match(await roms('snes'), [{ fs_name: 'A.sfc' }])
  t.match(await sql('select fs_path from roms order by fs_path'), [{ fs_path: 'nes/roms' }, { fs_path: 'snes/roms' }])
  t.match(await sql('select file_path, file_name from firmware'), [{ file_path: 'snes/bios', file_name: 'chip.bin' }])
})

t.test('firmware is counted, hashed once, compared with known dumps and marked missing', async (t) => {
  const { put, scan, sql, libraryDir } = inside
  const only = { platform_fs_slugs: ['gb'] }
  const read = () => sql<{ file_name: string, is_verified: boolean, missing_from_fs: boolean, md5_hash: string }>(
    "select file_name, is_verified, missing_from_fs, md5_hash from firmware where file_path = 'gb/bios' order by file_name")
  const other = Buffer.from('not the real one')
  await put({
    'gb/roms/A.gb': 'a',
    'gb/bios/dmg_boot.bin': bytesWithCrc(256, 0x59c8598e),
    'gb/bios/gb_bios.bin': other,
    'gb/bios/.DS_Store': 'x'
  })
  await mkdir(join(libraryDir, 'gb/bios/folder'))
  const first = await scan(only)
  t.match(first.meta.scan_stats, { scanned_firmware: 2, new_firmware: 2 })
  t.match(await read(), [
    { file_name: 'dmg_boot.bin', is_verified: true },
    { file_name: 'gb_bios.bin', is_verified: false, md5_hash: createHash('md5').update(other).digest('hex') }
  ])
  await sql("update firmware set md5_hash = 'kept' where file_name = 'gb_bios.bin'")
  await rm(join(libraryDir, 'gb/bios/dmg_boot.bin'))
  const second = await scan(only)
  t.match(second.meta.scan_stats, { scanned_firmware: 1, new_firmware: 0 })
  t.match(await read(), [{ missing_from_fs: true }, { md5_hash: 'kept', missing_from_fs: false }])
  await scan({ type: 'hashes', ...only })
  t.not((await read())[1]?.md5_hash, 'kept')
  await scan({ type: 'new_platforms', ...only })
  t.equal((await read()).length, 2)
})

t.test('a quick scan hashes firmware again that another file of its size replaced', async (t) => {
  const { put, scan, sql, libraryDir } = inside
  const only = { platform_fs_slugs: ['gb'] }
  const folder = join(libraryDir, 'gb/bios')
  const good = bytesWithCrc(256, 0x59c8598e)
  await put({ 'gb/roms/A.gb': 'a', 'gb/bios/dmg_boot.bin': Buffer.alloc(256, 'bad dump'), 'good.bin': good })
  await utimes(join(libraryDir, 'good.bin'), 0, 0)
  const read = () => sql("select is_verified, md5_hash from firmware where file_name = 'dmg_boot.bin'")
  await scan(only)
  t.match(await read(), [{ is_verified: false }])
  await rename(join(libraryDir, 'good.bin'), join(folder, 'dmg_boot.bin'))
  await scan(only)
  t.match(await read(), [{ is_verified: true, md5_hash: createHash('md5').update(good).digest('hex') }])
  await sql("update firmware set md5_hash = 'of an unchanged file' where file_name = 'dmg_boot.bin'")
  await scan(only)
  t.match(await read(), [{ md5_hash: 'of an unchanged file' }])
})

t.test('configured folder bindings apply, and excluded folders are skipped', async (t) => {
  const test = await buildScanTest(t, {
    providers: [],
    config: {
      system: { platforms: { 'My Nintendo': 'snes' }, versions: { 'snes-hacks': 'snes' } },
      exclude: {
        platforms: ['tmp-*'],
        roms: {
          single_file: { extensions: ['txt'], names: ['skip*'] },
          multi_file: { names: ['Bonus'], parts: { extensions: ['nfo'], names: ['readme*'] } }
        }
      }
    }
  })
  const { put, scan, roms, sql, rom } = test
  await put({
    'roms/My Nintendo/A.sfc': 'a',
    'roms/My Nintendo/skip me.sfc': 'x',
    'roms/My Nintendo/notes.TXT': 'x',
    'roms/My Nintendo/Bonus/x.bin': 'x',
    'roms/My Nintendo/Game/disc.bin': 'disc',
    'roms/My Nintendo/Game/info.nfo': 'x',
    'roms/My Nintendo/Game/readme first': 'x',
    'roms/My Nintendo/covers/A.png': 'x',
    'roms/My Nintendo/gamelist.xml': '<gameList/>',
    'roms/snes-hacks/H.sfc': 'h',
    'roms/tmp-1/X.sfc': 'x'
  })
  const status = await scan()
  t.match(status.meta.scan_stats, { total_platforms: 2, total_roms: 3, scanned_roms: 3, identified_platforms: 2 })
  t.same((await roms('My Nintendo')).map((one) => one.fs_name), ['A.sfc', 'Game'])
  t.match(await sql('select fs_slug, slug from platforms order by fs_slug'),
    [{ fs_slug: 'My Nintendo', slug: 'snes' }, { fs_slug: 'snes-hacks', slug: 'snes-hacks' }])
  const game = await rom('My Nintendo', 'Game')
  t.same(await sql('select file_name from rom_files where rom_id = $1', [game.id]), [{ file_name: 'disc.bin' }])
})
