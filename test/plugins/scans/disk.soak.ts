import { spawnSync } from 'node:child_process'
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { scriptOf } from '../fixtures/script.ts'
import { ARTWORK_MAX_BYTES } from '../../../plugins/artwork/staging.ts'
import { until } from '../../until.ts'
import { missing, startDisk } from './disk-support.ts'

const {
  test, put, scan, rom, roms, libraryDir, sql, error, start, finished, problems, at, unmount
} = await startDisk(t)

const alpha = scriptOf('alpha')

t.test('a link to an unmounted disk does not mark its platform missing', async (t) => {
  const disk = join(test.dataDir, 'disk')
  await mkdir(disk)
  await writeFile(join(disk, 'One.pce'), 'one of pce')
  await put({ 'roms/nes/Three.nes': 'three' })
  await symlink(disk, at('roms/pcengine'))
  await scan()
  await rename(disk, `${disk}-away`)
  const status = await scan()
  t.match(status.meta.problems, [{ platform: 'pcengine', path: 'roms/pcengine', reason: /target of the symbolic link is missing; mount its disk/ }])
  t.same(await missing(test, 'pcengine'), [false])
  await rm(at('roms/pcengine'))
  await scan()
  t.same(await missing(test, 'pcengine'), [true])
})

t.test('a disk lost during the reading of a platform is one problem and loses no hash', async (t) => {
  await put(Object.fromEntries(Array.from({ length: 600 }, (_none, index) => [`roms/md/Game ${index}.md`, `game ${index}`])))
  await scan({ platform_fs_slugs: ['md'], apis: [] })
  const hashes = () => sql("select fs_name, sha1_hash, missing_from_fs from roms where fs_path = 'roms/md' order by id")
  const before = await hashes()
  let unmounting: ReturnType<typeof unmount> | null = null
  // The lookups delay the first batch, and the disk is gone when the second one is read.
  alpha.identify = async () => {
    unmounting ??= unmount('roms/md')
    await unmounting
    return null
  }
  const status = await scan({ type: 'complete', platform_fs_slugs: ['md'] })
  t.equal(status.status, 'finished')
  t.match(problems(status), [/^roms\/md: .*disappeared during the scan; nothing was marked missing/])
  t.same(await hashes(), before)
  await (await (unmounting as ReturnType<typeof unmount> | null))?.()
})

t.test('a library that vanishes during its scan fails the scan and marks nothing missing', async (t) => {
  await put({ 'roms/aa/One.bin': 'one of aa', 'roms/zz/Two.bin': 'two of zz' })
  await scan()
  const count = async () => (await sql('select id from roms where missing_from_fs')).length
  const before = await count()
  const ways: [string, string, RegExp][] = [
    // A scan between the two steps of the unmounting may find no library at all.
    ['.', 'zz', /disappeared during the scan. Nothing was marked missing.*mounted, then scan again|does not exist/],
    ['roms', 'zz', /disappeared during the scan/]
  ]
  for (const [path, folder, message] of ways) {
    await put({ [`roms/aa/New ${folder} ${path === '.' ? 'library' : path}.bin`]: `new ${path}` })
    let mount: (() => Promise<void>) | null = null
    alpha.identify = async () => {
      if (path === '.') {
        await rename(libraryDir, `${libraryDir}-away`)
        await mkdir(libraryDir)
        mount = async () => {
          await rm(libraryDir, { recursive: true })
          await rename(`${libraryDir}-away`, libraryDir)
        }
      } else {
        mount = await unmount(path)
      }
      return null
    }
    const id = await start({ apis: ['alpha'] })
    t.equal((await finished(id)).status, 'failed', path)
    t.match(await error(id), message, path)
    t.equal(await count(), before, path)
    await until(() => mount !== null, 'the library was away')
    if (mount !== null) await (mount as () => Promise<void>)()
  }
})

t.test('a full database disk fails the scan, and the next scan finishes its work', async (t) => {
  const full = (table: string) => sql(`create trigger full_disk before insert on ${table} for each row execute function full_disk()`)
  const room = (table: string) => sql(`drop trigger full_disk on ${table}`)
  await sql(`create function full_disk() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file "base/1/2": No space left on device' using errcode = 'disk_full'; end $$`)
  await put({ 'roms/n64/One.z64': 'one of n64', 'roms/n64/Two.z64': 'two of n64' })
  alpha.identify = (game) => ({ id: 7, name: `Real ${game.fs_name}` })
  for (const table of ['roms', 'rom_matches']) {
    await full(table)
    const id = await start({ platform_fs_slugs: ['n64'] })
    const status = await finished(id)
    t.equal(status.status, 'failed', table)
    t.match(await error(id), /^The disk of the database is full \(.*could not extend file.*\). Free space there, then scan again/)
    await room(table)
  }
  t.equal((await roms('n64')).filter((one) => one.is_identified).length, 0)
  t.match(await scan({ platform_fs_slugs: ['n64'] }), { status: 'finished', meta: { scan_stats: { new_roms: 0, identified_roms: 2 } } })
  t.match(await rom('n64', 'One.z64'), { name: 'Real One.z64', is_identified: true })
  const calls = alpha.calls.length
  await scan()
  await scan({ platform_fs_slugs: ['n64'] })
  t.equal(alpha.calls.filter(({ rom: name }) => name.endsWith('.z64')).length, calls, 'once')
})

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#336699', noise: { type: 'gaussian', mean: 128, sigma: 60 } } })
    .png().toBuffer()
const games = (folder: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_none, n) => [`roms/${folder}/Game ${n}.bin`, `${folder} ${n}`]))
const resources = join(test.dataDir, 'resources')

/** Gives every game the same cover, in searches and in lookups by id. */
function giveCover (path: string): void {
  const match = { id: 8, media: [{ kind: 'cover' as const, url: `file://${path}` }] }
  alpha.identify = () => match
  alpha.getById = () => match
}

async function listFiles (): Promise<string[]> {
  const entries = await readdir(resources, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).sort()
}

/** Lists the files that rows name. */
async function listNamed (folder: string): Promise<string[]> {
  const paths = (await roms(folder)).flatMap((one) => [one.path_cover_large, one.path_cover_small])
  return paths.filter((path) => path !== null).map((path) => join(resources, path)).sort()
}

t.test('unstorable artwork is one problem for each platform, and no row names a file', async (t) => {
  await put({ 'roms/art/images/Cover.png': await picture(30, 40), ...games('art', 3), ...games('deco', 3) })
  await rm(resources, { recursive: true, force: true })
  await writeFile(resources, 'a file in the way')
  giveCover('roms/art/images/Cover.png')
  const status = await scan({ platform_fs_slugs: ['art', 'deco'] })
  t.equal(status.status, 'finished')
  t.equal(status.meta.problems.length, 2)
  t.match(new Set(status.meta.problems), new Set(['art', 'deco'].map((platform) => ({
    platform,
    reason: new RegExp(`^3 artwork files of '${platform}' could not be stored: .*Check ${resources} .*, then run an update scan$`)
  }))))
  t.same(await listNamed('art'), [])
  await rm(resources)
  const halfWritten = join(resources, '.unfinished', crypto.randomUUID())
  await mkdir(halfWritten, { recursive: true })
  await writeFile(join(halfWritten, '1.part'), 'what a killed scan left')
  await scan({ type: 'update', platform_fs_slugs: ['art'] })
  t.equal((await listNamed('art')).length, 6)
  t.same(await listNamed('art'), await listFiles())
})

const FULL_DISKS: [what: string, options: string, reason: string][] = [
  ['bytes beyond the reserve', `size=${1024 * 1024 + ARTWORK_MAX_BYTES / 1024 + 640}k`, 'less than 1 GiB is free on the disk'],
  ['places for files', 'size=2g,nr_inodes=60', 'the disk is full \\(ENOSPC\\)']
]
for (const [what, options, why] of FULL_DISKS) {
  t.test(`a disk without ${what} stops artwork, not the scan, and keeps no partial file`, async (t) => {
    await rm(resources, { recursive: true, force: true })
    await mkdir(resources)
    const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', resources], { encoding: 'utf8' })
    if (mount.status !== 0) {
      t.comment(`a small disk needs a user who may mount one: ${mount.stderr ?? mount.error?.message}`)
      t.end()
      return
    }
    try {
      await put({ 'roms/wii/images/Cover.png': await picture(100, 140), ...games('wii', 20) })
      giveCover('roms/wii/images/Cover.png')
      const status = await scan({ type: 'complete', platform_fs_slugs: ['wii'] })
      t.equal(status.status, 'finished')
      t.match(status.meta.problems, [{
        platform: 'wii',
        reason: new RegExp(`^\\d+ artwork files of 'wii' could not be stored: ${why}\\. Free space under .*resources, then`)
      }])
      const named = await listNamed('wii')
      t.ok(named.length > 0 && named.length < 40, `${named.length} files found room`)
      t.same(named, await listFiles())
      for (const file of named) await sharp(file).stats()
    } finally {
      spawnSync('umount', [resources])
    }
  })
}

t.test('a platform on an unmounted disk loses no ROM, and the scan gives advice', async (t) => {
  await put({ 'roms/snes/One.sfc': 'one', 'roms/snes/Two.sfc': 'two', 'roms/nes/Three.nes': 'three' })
  await scan()
  const mount = await unmount('roms/snes')
  await put({ 'roms/snes/gamelist.xml': '<gameList/>' })
  const [first] = await roms('snes')
  for (const payload of [{}, { type: 'complete' }, { platform_fs_slugs: ['snes'] }, { roms_ids: [first?.id ?? 0] }]) {
    const status = await scan(payload)
    t.equal(status.status, 'finished')
    t.match(problems(status), [
      /^roms\/snes: .*empty, and it is not the folder that contained its 2 ROMs.*Mount the disk, or delete the folder/
    ], JSON.stringify(payload))
    t.same(await missing(test, 'snes'), [false, false])
  }
  t.same(await missing(test, 'nes'), [false], 'the others are scanned')
  await mount()
  t.match(await scan(), { meta: { scan_stats: { new_roms: 0, updated_roms: 0 }, problems: [] } })
})
