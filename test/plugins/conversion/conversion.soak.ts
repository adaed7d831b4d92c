import { readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import t from 'tap'
import { pack7z } from '../../bench/seven-zip.ts'
import { MEMBERS, makeZip, unpackFixture } from '../hashing/fixtures.ts'
import { GAME, exists, startConversion } from './conversion-support.ts'

const {
  app, admin, scan, rom, roms, sql, finished, at, list, run, convert, addPlatform, startHeld, leaveBegun
} = await startConversion(t)

t.test('the same content makes the same archive, and unpacking restores its bytes', async (t) => {
  const platform = await addPlatform('gb', { 'One.gb': GAME })
  const { sha1_hash: sha1, id } = await rom('gb', 'One.gb')
  await convert({ to: 'zip', platform_ids: [platform] })
  const first = await readFile(at('gb', 'One.zip'))
  t.match((await convert({ to: 'plain', rom_ids: [id] })).meta.converted, [{ to: 'One.gb', bytes_after: GAME.length }])
  t.ok(GAME.equals(await readFile(at('gb', 'One.gb'))))
  t.match(await rom('gb', 'One.gb'), { id, sha1_hash: sha1 })
  await convert({ to: 'zip', platform_ids: [platform] })
  t.ok(first.equals(await readFile(at('gb', 'One.zip'))))
})

t.test('a 7z becomes a zip of its members; several members unpack to a folder', async (t) => {
  const platform = await addPlatform('snes', {
    'Many.7z': unpackFixture('7z'), 'Single (Japan).7z': pack7z([{ name: 'inner name.sfc', bytes: GAME }])
  })
  const [many, single] = [await rom('snes', 'Many.7z'), await rom('snes', 'Single (Japan).7z')]
  t.match((await convert({ to: 'zip', platform_ids: [platform] })).meta, { conversion_stats: { processed: 2, errors: 0 } })
  t.same(await list('snes'), ['Many.zip', 'Single (Japan).zip'])
  t.match(await roms('snes'), [{ ...many, fs_name: 'Many.zip' }, { ...single, fs_name: 'Single (Japan).zip' }])
  t.match((await convert({ to: 'plain', platform_ids: [platform] })).meta, { conversion_stats: { processed: 2, errors: 0 } })
  t.same(await list('snes'), ['Many', ...MEMBERS.map(({ name }) => `Many/${name}`), 'Single (Japan).sfc']
    .flatMap((path) => path.split('/').map((_part, index, parts) => parts.slice(0, index + 1).join('/')))
    .filter((path, index, all) => all.indexOf(path) === index).sort())
  for (const { name, bytes } of MEMBERS) t.ok(bytes.equals(await readFile(at('snes', 'Many', name))), name)
  t.match(await roms('snes'), [{ id: many.id, fs_name: 'Many' }, { id: single.id, fs_name: 'Single (Japan).sfc', sha1_hash: single.sha1_hash }])
  const rescan = await scan({ platform_fs_slugs: ['snes'] })
  t.match(rescan.meta.scan_stats, { new_roms: 0, updated_roms: 0 })
})

t.test('files that emulators need unchanged are skipped with a reason', async (t) => {
  const inner = await makeZip([{ name: 'rom.bin', bytes: GAME }])
  await addPlatform('arcade', { 'pacman.zip': inner })
  await addPlatform('psp', { 'Small.cso': 'CISO compressed', 'Large.iso': 'an image' })
  await addPlatform('psx', {
    'Flat.cue': 'FILE "Flat.bin" BINARY\n  TRACK 01 MODE2/2352\n    INDEX 01 00:00:00\n', 'Flat.bin': 'a track', 'Linked.bin': 'x'
  })
  await addPlatform('win', { 'Setup.exe': 'a program' })
  await addPlatform('genesis', { 'Sonic.md': GAME, 'All.m3u': 'Sonic.md\n' })
  await symlink(at('psx', 'Linked.bin'), at('genesis', 'Link.md'))
  await scan({ platform_fs_slugs: ['genesis'] })
  const { rows } = await app.pg.query<{ id: number }>("select id from platforms where fs_slug in ('arcade', 'psp', 'psx', 'win', 'genesis')")
  const platforms = rows.map(({ id }) => id)
  const reasons = async (to: string) => {
    const { meta } = await convert({ to, platform_ids: platforms, dry_run: true })
    return Object.fromEntries(meta.left.map(({ fs_name: name, left }) => [name, left]))
  }
  t.match(await reasons('zip'), {
    'pacman.zip': /is a zip already/,
    'Small.cso': /emulators read \.cso files as they are, or/,
    'Large.iso': /convert it to chd/,
    'Flat.cue': /convert it to chd/,
    'Flat.bin': /'Flat\.cue' refers to it/,
    'Setup.exe': /'win' cannot read zips/,
    'Sonic.md': /'All\.m3u' refers to it/,
    'Link.md': /symbolic link/
  })
  t.match(await reasons('plain'), { 'pacman.zip': /need the archive of a game/, 'Small.cso': /neither \.zip nor/ })
  t.match(await reasons('chd'), { 'Flat.cue': /move all of them into one folder/, 'Setup.exe': /cannot read CHDs/ })
})

t.test('unreadable files and files with a taken name are not converted', async (t) => {
  const whole = await makeZip([{ name: 'a.gg', bytes: GAME }])
  const platform = await addPlatform('gg', {
    'Broken.zip': whole.subarray(0, whole.length - 40), 'Cut.7z': unpackFixture('7z').subarray(0, 60),
    'Twin.gg': 'one', 'Twin.zip': await makeZip([{ name: 'Twin.gg', bytes: GAME }])
  })
  const [before, rows] = [await list('gg'), await roms('gg')]
  const zip = await convert({ to: 'zip', platform_ids: [platform] })
  t.match(zip, { status: 'finished', meta: { conversion_stats: { processed: 4, errors: 2 } } })
  t.match(zip.meta.problems.find(({ fs_name: name }) => name === 'Twin.gg'), { problem: /'Twin\.zip' is another ROM/ })
  const plain = await convert({ to: 'plain', platform_ids: [platform] })
  t.match(plain.meta.conversion_stats, { processed: 4, errors: 3 })
  t.same(await list('gg'), before)
  t.same(await roms('gg'), rows)
  t.same(await sql('select * from rom_conversions'), [])
})

t.test('a conversion waits for a scan, and a stop leaves no trace', async (t) => {
  const platform = await addPlatform('lynx', { 'Wait.lnx': GAME })
  const { id, release } = await startHeld(t, 'Wait.zip', { platform_ids: [platform] })
  t.ok(await exists(at('lynx', 'Wait.lnx')))
  t.match(await run({ to: 'zip' }), { statusCode: 409, body: /already queued or running/ })
  t.match(await app.inject({ method: 'POST', url: `/api/tasks/${id}/stop`, headers: admin }), { statusCode: 200 })
  t.match(await finished(id), { status: 'stopped' })
  t.same(await list('lynx'), ['Wait.lnx'])
  t.same(await sql('select * from rom_conversions'), [])
  t.match(await app.inject({ method: 'POST', url: `/api/tasks/${id}/stop`, headers: admin }), { statusCode: 409, body: /has already ended/ })
  await release()
  t.match((await convert({ to: 'zip', platform_ids: [platform] })).meta.converted, [{ to: 'Wait.zip' }])
})

t.test('the next scan finishes a conversion, wherever its process ended', async (t) => {
  const steps: Record<string, (left: Awaited<ReturnType<typeof leaveBegun>>) => Promise<void>> = {
    nothing: async () => {},
    placed: async ({ from, to }) => { await rename(from, to) },
    deleted: async ({ from, to, old }) => {
      await rename(from, to)
      await rm(old)
    },
    tidied: async ({ from, to, old, work }) => {
      await rename(from, to)
      await rm(old)
      await rm(work, { recursive: true })
    }
  }
  for (const [name, step] of Object.entries(steps)) {
    const folder = `kill-${name}`
    const left = await leaveBegun(folder, 'Game')
    await step(left)
    await scan({ platform_fs_slugs: [folder] })
    t.same(await list(folder), ['Game.zip'], name)
    t.match(await roms(folder), [{ id: left.id, fs_name: 'Game.zip', missing_from_fs: false }], name)
    t.same(await sql('select * from rom_conversions'), [], name)
  }
})

t.test('a member with a path outside the folder is not unpacked', async (t) => {
  const evil = await makeZip([{ name: 'aa/bb.sms', bytes: GAME }])
  const platform = await addPlatform('sms', { 'Evil.zip': Buffer.from(evil.toString('latin1').replaceAll('aa/bb', '../bb'), 'latin1') })
  t.match((await convert({ to: 'plain', platform_ids: [platform] })).meta.conversion_stats, { errors: 1 })
  t.same(await list('sms'), ['Evil.zip'])
  t.notOk(await exists(at('bb.sms')))
})

t.test('a file that changes while it is converted is not replaced', async (t) => {
  const platform = await addPlatform('vectrex', { 'Edit.vec': GAME })
  const { id, release } = await startHeld(t, 'Edit.zip', { platform_ids: [platform] })
  await writeFile(at('vectrex', 'Edit.vec'), 'another dump')
  await release()
  // The change is noticed when the file is packed, compared or replaced.
  t.match((await finished(id)).meta, { conversion_stats: { errors: 1 }, problems: [{ fs_name: 'Edit.vec', problem: String }] })
  t.same(await list('vectrex'), ['Edit.vec'])
  t.equal(await readFile(at('vectrex', 'Edit.vec'), 'utf8'), 'another dump')
})

t.test('a ROM that is deleted while it is converted stays deleted', async (t) => {
  const platform = await addPlatform('ngp', { 'Gone.ngp': GAME, 'Here.ngp': GAME })
  const gone = await rom('ngp', 'Gone.ngp')
  const { id, release } = await startHeld(t, 'Gone.zip', { platform_ids: [platform], rom_ids: [gone.id] })
  await rm(at('ngp', 'Gone.ngp'))
  await release()
  t.match((await finished(id)).meta, { conversion_stats: { errors: 1 } })
  t.same(await list('ngp'), ['Here.ngp'])
})
