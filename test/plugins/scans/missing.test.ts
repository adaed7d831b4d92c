import { cp, mkdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { resetScripts } from '../fixtures/script.ts'
import { buildScanTest } from './support.ts'
import { alpha } from './missing-support.ts'

const test = await buildScanTest(t, { providers: ['alpha'] })
const { put, scan, rom, roms, libraryDir, sql, error, start, finished } = test

t.beforeEach(resetScripts)

const at = (path: string) => join(libraryDir, path)
const move = (from: string, to: string) => rename(at(`roms/${from}`), at(`roms/${to}`))

t.test('the error of an empty new library tells where ROMs go', async (t) => {
  const id = await start()
  t.equal((await finished(id)).status, 'failed')
  t.match(await error(id), /has no platform folders. Put ROMs into .*roms\/<platform>\/ and scan again/)
})

t.test('a folder of platforms alone gets the advice to link it, and the link works', async (t) => {
  await mkdir(at('wonderswan'))
  await writeFile(at('wonderswan/Alpha.ws'), 'alpha')
  const id = await start()
  t.equal((await finished(id)).status, 'failed')
  t.match(await error(id), /such as "wonderswan", as in the ROM folder of ES-DE, .* ln -s ".*" library\/roms, .* mount the folder at \/library\/roms/)
  const own = join(t.testdir({}), 'ROMs')
  await mkdir(own)
  await rename(at('wonderswan'), join(own, 'wonderswan'))
  await symlink(own, at('roms'))
  await scan({ apis: [] })
  t.match(await roms('wonderswan'), [{ fs_name: 'Alpha.ws', missing_from_fs: false }])
  await rm(at('roms'))
  await sql('delete from platforms')
})

t.test('a renamed file keeps its row and its matches', async (t) => {
  await put({ 'roms/snes/Old Name.sfc': 'content', 'roms/snes/Plain.sfc': 'plain' })
  alpha.identify = (game) => game.fs_name.startsWith('Old') ? { id: 5, name: 'Its real name' } : null
  await scan({ platform_fs_slugs: ['snes'] })
  const [old, plain] = await roms('snes')
  await move('snes/Old Name.sfc', 'snes/New Name (USA).sfc')
  await move('snes/Plain.sfc', 'snes/Plainer.sfc')
  resetScripts()
  const status = await scan({ platform_fs_slugs: ['snes'] })
  t.match(await roms('snes'), [
    { id: old?.id, fs_name: 'New Name (USA).sfc', name: 'Its real name', ids: { alpha: '5' }, missing_from_fs: false, regions: ['USA'] },
    { id: plain?.id, fs_name: 'Plainer.sfc', name: 'Plainer' }
  ])
  t.match(status.meta.scan_stats, { new_roms: 0, updated_roms: 2, scanned_roms: 2 })
  t.same(alpha.calls, [], 'it is not looked up again')
})

t.test('a renamed or moved file claims no row if two had its content or it is empty', async (t) => {
  await put({ 'roms/nes/Twin 1.nes': 'same', 'roms/nes/Twin 2.nes': 'same', 'roms/nes/Empty 1.nes': '' })
  await scan({ platform_fs_slugs: ['nes'] })
  for (const name of ['Twin 1', 'Twin 2', 'Empty 1']) await rm(at(`roms/nes/${name}.nes`))
  await put({ 'roms/nes/Third.nes': 'same', 'roms/nes/Empty 2.nes': '', 'roms/fds/Fourth.nes': 'same', 'roms/fds/Empty 3.nes': '' })
  const status = await scan({ platform_fs_slugs: ['nes', 'fds'] })
  t.equal(status.meta.scan_stats.new_roms, 4, 'in another platform neither')
  t.same((await roms('nes')).filter((one) => one.missing_from_fs).map((one) => one.fs_name),
    ['Empty 1.nes', 'Twin 1.nes', 'Twin 2.nes'])
})

t.test('a ROM that moved to another platform keeps its row and its artwork', async (t) => {
  await put({
    'roms/genesis/Mover.md': 'moves', 'roms/genesis/Twin.md': 'stays', 'roms/genesis/Rest.md': 'rest', 'bios/x/y': ''
  })
  await scan({ platform_fs_slugs: ['genesis'] })
  const [mover, rest, twin] = await roms('genesis')
  const folder = join(test.config.data_dir, 'resources', 'roms')
  const [old] = await sql<{ id: number }>("select id from platforms where fs_slug = 'genesis'")
  const path = `roms/${old?.id}/${mover?.id}/cover/big.png`
  await mkdir(join(folder, `${old?.id}/${mover?.id}/cover`), { recursive: true })
  await writeFile(join(folder, `${old?.id}/${mover?.id}/cover/big.png`), 'a picture')
  await sql('update roms set path_cover_large = $2, path_screenshots = $3 where id = $1', [mover?.id, path, [path]])
  await mkdir(at('roms/megadrive-games'))
  await move('genesis/Mover.md', 'megadrive-games/Moved.md')
  await put({ 'roms/megadrive-games/Twin.md': 'stays' })
  const status = await scan({ platform_fs_slugs: ['megadrive-games'] })
  t.match(status.meta.scan_stats, { new_roms: 1, updated_roms: 1 })
  const [moved, copy] = await roms('megadrive-games')
  t.match(moved, { id: mover?.id, fs_name: 'Moved.md', missing_from_fs: false })
  t.not(copy?.id, twin?.id, 'a copy is a ROM of its own')
  t.match(await roms('genesis'), [{ id: rest?.id }, { id: twin?.id }])
  t.not(moved?.path_cover_large, path)
  t.same(moved?.path_screenshots, [moved?.path_cover_large])
  t.equal(await readFile(join(folder, '..', moved?.path_cover_large ?? ''), 'utf8'), 'a picture')
})

t.test('a renamed platform folder keeps its ROMs', async (t) => {
  await put({ 'roms/sms/One.sms': 'one of sms', 'roms/sms/Two.sms': 'two of sms' })
  await scan({ platform_fs_slugs: ['sms'] })
  const before = await roms('sms')
  await rename(at('roms/sms'), at('roms/mastersystem'))
  const status = await scan()
  t.same((await roms('mastersystem')).map(({ id }) => id), before.map(({ id }) => id))
  t.same(await roms('sms'), [])
  t.match(status.meta.scan_stats, { new_roms: 0, updated_roms: 2 })
})

t.test('a renamed ROM of a platform without hashes is recognised by its inodes', async (t) => {
  await put({ 'roms/switch/Old.nsp': 'first', 'roms/switch/Folder/game.nsp': 'second' })
  await scan({ platform_fs_slugs: ['switch'] })
  const before = await roms('switch')
  await move('switch/Old.nsp', 'switch/New.nsp')
  await move('switch/Folder', 'switch/Game')
  await scan({ platform_fs_slugs: ['switch'] })
  const after = await roms('switch')
  t.same(after.map(({ fs_name: name, id }) => [name, id]),
    [['Game', before[0]?.id], ['New.nsp', before[1]?.id]])
})

t.test('ROMs of a platform without hashes that move to another platform keep their rows', async (t) => {
  await put({
    'roms/ps3/Folder/PS3_GAME/EBOOT.BIN': 'first', 'roms/ps3/Other.pkg': 'second', 'roms/ps3/Changed.pkg': 'third',
    'roms/ps3/Copied.pkg': 'fourth'
  })
  await scan({ platform_fs_slugs: ['ps3'] })
  const before = new Map((await roms('ps3')).map(({ fs_name: name, id }) => [name, id]))
  await mkdir(at('roms/xboxone'))
  for (const name of ['Folder', 'Other.pkg', 'Changed.pkg']) await move(`ps3/${name}`, `xboxone/${name}`)
  await utimes(at('roms/xboxone/Changed.pkg'), 1, 1)
  await cp(at('roms/ps3/Copied.pkg'), at('roms/xboxone/Copied.pkg'), { preserveTimestamps: true })
  const status = await scan()
  const after = new Map((await roms('xboxone')).map(({ fs_name: name, id }) => [name, id]))
  t.equal(after.get('Folder'), before.get('Folder'))
  t.equal(after.get('Other.pkg'), before.get('Other.pkg'))
  t.not(after.get('Changed.pkg'), before.get('Changed.pkg'), 'another time is another file')
  t.not(after.get('Copied.pkg'), before.get('Copied.pkg'), 'a copy is a ROM of its own')
  t.match(status.meta.scan_stats, { new_roms: 2, updated_roms: 2 })
  t.match(await roms('ps3'), [{ fs_name: 'Changed.pkg', missing_from_fs: true }, { fs_name: 'Copied.pkg', missing_from_fs: false }])
})

t.test('a complete scan matches a renamed file from scratch, in its old row', async (t) => {
  await put({ 'roms/gba/Before.gba': 'content' })
  await scan({ platform_fs_slugs: ['gba'] })
  const { id } = await rom('gba', 'Before.gba')
  await move('gba/Before.gba', 'gba/After.gba')
  alpha.identify = () => ({ id: 6, name: 'Found' })
  await scan({ type: 'complete', platform_fs_slugs: ['gba'] })
  t.match(await roms('gba'), [{ id, fs_name: 'After.gba', name: 'Found' }])
})

t.test('a vanished file is marked missing, and present again when it is back', async (t) => {
  await put({ 'roms/gb/Stays.gb': 'stays', 'roms/gb/Goes.gb': 'goes' })
  await scan({ platform_fs_slugs: ['gb'] })
  const { id } = await rom('gb', 'Goes.gb')
  await move('gb/Goes.gb', '../elsewhere.gb')
  const gone = await scan({ platform_fs_slugs: ['gb'] })
  t.equal((await rom('gb', 'Goes.gb')).missing_from_fs, true)
  t.equal((await rom('gb', 'Stays.gb')).missing_from_fs, false)
  t.equal(gone.meta.scan_stats.scanned_roms, 1)
  await move('../elsewhere.gb', 'gb/Goes.gb')
  await scan({ type: 'unmatched', apis: [], platform_fs_slugs: ['gb'] })
  t.match(await rom('gb', 'Goes.gb'), { id, missing_from_fs: false })
})

t.test('a ROM whose folder was emptied is missing until its files are back', async (t) => {
  await put({ 'roms/ngp/Set/1.bin': 'one', 'roms/ngp/Set/deep/2.bin': 'two', 'roms/ngp/Stays.ngp': 'stays' })
  await scan({ platform_fs_slugs: ['ngp'] })
  const { id } = await rom('ngp', 'Set')
  await rm(at('roms/ngp/Set/1.bin'))
  await rm(at('roms/ngp/Set/deep/2.bin'))
  await scan({ platform_fs_slugs: ['ngp'] })
  t.equal((await rom('ngp', 'Set')).missing_from_fs, true)
  await put({ 'roms/ngp/Set/1.bin': 'one' })
  await scan({ platform_fs_slugs: ['ngp'] })
  t.match(await rom('ngp', 'Set'), { id, missing_from_fs: false })
  await rm(at('roms/ngp/Set/1.bin'))
  await scan({ roms_ids: [id] })
  t.match(await rom('ngp', 'Set'), { id, missing_from_fs: true }, 'also if a scan of this ROM finds it')
})

t.test('a missing platform folder marks its ROMs missing until it is back', async (t) => {
  await put({ 'roms/psx/Disc.bin': 'disc' })
  await scan({ platform_fs_slugs: ['psx'] })
  await move('psx', '../psx')
  const { id } = await rom('psx', 'Disc.bin')
  const named = await scan({ roms_ids: [id] })
  t.match(named, { status: 'finished', meta: { scan_stats: { scanned_roms: 1 } } })
  t.equal((await rom('psx', 'Disc.bin')).missing_from_fs, true, 'also when just it is scanned')
  await scan({ platform_fs_slugs: ['gb'] })
  t.match(await sql("select missing_from_fs from platforms where fs_slug = 'psx'"), [{ missing_from_fs: true }])
  await move('../psx', 'psx')
  await scan()
  t.match(await sql("select missing_from_fs from platforms where fs_slug = 'psx'"), [{ missing_from_fs: false }])
  t.equal((await rom('psx', 'Disc.bin')).missing_from_fs, false)
})

t.test('an empty or absent library fails the scan and marks nothing missing', async (t) => {
  const present = async () => sql('select id from roms where not missing_from_fs order by id')
  const before = await present()
  const [one] = await roms('psx')
  const ways: [string, () => Promise<unknown>, () => Promise<unknown>, RegExp][] = [
    ['the ROM folder is empty', async () => {
      await rename(at('roms'), at('away'))
      await mkdir(at('roms'))
    }, async () => {
      await rm(at('roms'), { recursive: true })
      await rename(at('away'), at('roms'))
    }, /has no platform folders any more, but \d+ platforms of it are stored.*mounted/],
    ['the library is empty', async () => {
      await rename(libraryDir, `${libraryDir}-away`)
      await mkdir(libraryDir)
    }, async () => {
      await rm(libraryDir, { recursive: true })
      await rename(`${libraryDir}-away`, libraryDir)
    }, /has no platform folders any more.*mounted/],
    ['the library is not there', () => rename(libraryDir, `${libraryDir}-away`),
      () => rename(`${libraryDir}-away`, libraryDir), /Cannot read the library folder.*it does not exist.*SVC_LIBRARY_DIR/]
  ]
  for (const [what, takeAway, bringBack, message] of ways) {
    await takeAway()
    for (const payload of [{}, { type: 'complete' }, { roms_ids: [one?.id ?? 0] }]) {
      const id = await start(payload)
      t.equal((await finished(id)).status, 'failed', `${what} ${JSON.stringify(payload)}`)
      t.match(await error(id), message, `${what} ${JSON.stringify(payload)}`)
    }
    await bringBack()
    t.same(await present(), before, what)
  }
})
