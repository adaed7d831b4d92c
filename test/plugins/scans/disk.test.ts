import { rm } from 'node:fs/promises'
import pg from 'pg'
import t from 'tap'
import { blockedBy } from '../../support.ts'
import { until } from '../../until.ts'
import { missing, startDisk } from './disk-support.ts'

const { test, put, scan, start, finished, sql, problems, at, unmount } = await startDisk(t)

t.test('a platform that was emptied on purpose has only missing ROMs', async (t) => {
  await put({ 'roms/gb/One.gb': 'one of gb', 'roms/gb/Two.gb': 'two of gb' })
  await scan({ platform_fs_slugs: ['gb'] })
  await rm(at('roms/gb/One.gb'))
  await rm(at('roms/gb/Two.gb'))
  t.same((await scan({ platform_fs_slugs: ['gb'] })).meta.problems, [])
  t.same(await missing(test, 'gb'), [true, true])
})

t.test('the ROMs of a deleted platform folder are marked missing', async (t) => {
  await put({ 'roms/gba/One.gba': 'one of gba' })
  await scan({ platform_fs_slugs: ['gba'] })
  await unmount('roms/gba')
  await scan()
  t.same(await missing(test, 'gba'), [false])
  await rm(at('roms/gba'), { recursive: true })
  await scan()
  t.same(await missing(test, 'gba'), [true])
})

t.test('firmware on an unmounted disk is not marked missing', async (t) => {
  await put({ 'bios/ps/scph1001.bin': 'firmware', 'roms/ps/One.bin': 'one of ps' })
  await scan({ platform_fs_slugs: ['ps'] })
  const mount = await unmount('bios')
  const status = await scan({ platform_fs_slugs: ['ps'] })
  t.match(problems(status), [/^bios: the folder is empty, but the database has 1 files of it.*Mount its disk/])
  const firmware = () => sql('select file_name, missing_from_fs from firmware')
  t.same(await firmware(), [{ file_name: 'scph1001.bin', missing_from_fs: false }])
  await mount()
  await rm(at('bios/ps/scph1001.bin'))
  await scan({ platform_fs_slugs: ['ps'] })
  t.same(await firmware(), [{ file_name: 'scph1001.bin', missing_from_fs: true }])
})

t.test('a file that is back before the scan of its folder ends is not missing', async (t) => {
  const other = new pg.Client({ connectionString: test.databaseUrl })
  await other.connect()
  t.teardown(() => other.end())
  await put({ 'roms/ngp/Back.ngp': 'back', 'roms/ngp/Gone.ngp': 'gone' })
  await scan({ platform_fs_slugs: ['ngp'] })
  await rm(at('roms/ngp/Back.ngp'))
  await rm(at('roms/ngp/Gone.ngp'))
  await put({ 'roms/ngp/New.ngp': 'new' })
  await other.query('begin; lock rom_files in share mode')
  const id = await start({ platform_fs_slugs: ['ngp'] })
  await until(async () => (await sql(blockedBy('rom_files'))).length > 0, 'a scan that read the folder, and stores the new game')
  await put({ 'roms/ngp/Back.ngp': 'back' })
  await other.query('commit')
  await finished(id)
  t.same(await missing(test, 'ngp'), [false, true, false])
})

t.test('a scan of an unchanged library writes and locks no row of a platform', async (t) => {
  await put({ 'roms/snes/One.sfc': 'one', 'roms/nes/Two.nes': 'two' })
  await scan()
  // A replaced or locked row shows in the system columns of PostgreSQL.
  const versions = async () => await sql(`select tableoid::regclass::text as of, xmin::text, xmax::text from platforms
    union all select tableoid::regclass::text, xmin::text, xmax::text from platform_folders order by 1, 2`)
  const before = await versions()
  t.ok(before.length >= 4)
  await scan()
  t.same(await versions(), before)
})
