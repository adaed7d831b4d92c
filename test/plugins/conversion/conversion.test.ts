import { access, mkdir, readFile, readdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { describeLayout, findLoss, renameInPlaylist } from '../../../plugins/conversion/sheets.ts'
import { finishConversion, recoverConversions } from '../../../plugins/conversion/swap-files.ts'
import { unhashed } from '../../../plugins/hashing/hash-entry.ts'
import { toFileRows, toRomRow } from '../../../plugins/scans/entry-rows.ts'
import { pack7z } from '../../bench/seven-zip.ts'
import { until } from '../../until.ts'
import { MEMBERS, makeZip, unpackFixture } from '../hashing/fixtures.ts'
import { buildScanTest } from '../scans/support.ts'

const test = await buildScanTest(t, { providers: ['alpha'] })
const { app, admin, put, scan, rom, roms, sql, finished, libraryDir } = test

const at = (...parts: string[]) => join(libraryDir, 'roms', ...parts)
const list = async (folder: string) => (await readdir(at(folder), { recursive: true })).sort()
const exists = (path: string) => access(path).then(() => true, () => false)
const run = (payload: object) => app.inject({ method: 'POST', url: '/api/tasks/run/convert_library', headers: admin, payload })

interface Meta {
  conversion_stats: { processed: number, errors: number, total: number }
  converted: { rom_id: number, fs_name: string, to: string, bytes_before: number, bytes_after: number }[]
  left: { fs_name: string, left: string }[]
  problems: { fs_name: string, problem: string }[]
  [name: string]: unknown
}

async function start (payload: object): Promise<string> {
  const answer = await run(payload)
  if (answer.statusCode !== 200) throw new Error(answer.body)
  return answer.json<{ task_id: string }>().task_id
}

async function convert (payload: object): Promise<{ id: string, status: string, meta: Meta }> {
  const id = await start(payload)
  const { status, meta } = await finished(id)
  return { id, status, meta: meta as unknown as Meta }
}

/** Adds files to a platform's folder. @returns the id of the platform */
async function addPlatform (folder: string, files: Record<string, string | Uint8Array>): Promise<number> {
  await put(Object.fromEntries(Object.entries(files).map(([name, content]) => [`roms/${folder}/${name}`, content])))
  await scan({ platform_fs_slugs: [folder] })
  const [platform] = await sql<{ id: number }>('select id from platforms where fs_slug = $1', [folder])
  return platform?.id ?? 0
}

const GAME = Buffer.from('a cartridge with much of the same '.repeat(2_000))

t.test('a file is zipped and all data of its ROM stays', async (t) => {
  const platform = await addPlatform('nes', { 'Zelda (Europe).nes': GAME })
  const before = await rom('nes', 'Zelda (Europe).nes')
  await app.inject({ method: 'PUT', url: `/api/roms/${before.id}/props`, headers: admin, payload: { data: { rating: 7 } } })
  const { status, meta } = await convert({ to: 'zip', platform_ids: [platform] })
  t.match({ status, meta }, {
    status: 'finished',
    meta: {
      conversion_stats: { processed: 1, errors: 0, total: 1 },
      converted: [{ rom_id: before.id, fs_name: 'Zelda (Europe).nes', to: 'Zelda (Europe).zip', bytes_before: GAME.length }]
    }
  })
  t.same(await list('nes'), ['Zelda (Europe).zip'], 'nothing else is left in the folder')
  const after = await rom('nes', 'Zelda (Europe).zip')
  t.same(after, { ...before, fs_name: 'Zelda (Europe).zip' }, 'id, hashes, tags and names are the same')
  t.match(await sql('select rating from rom_users where rom_id = $1', [before.id]), [{ rating: 7 }])
  t.match(await sql('select file_name, archive_members from rom_files where rom_id = $1', [before.id]),
    [{ file_name: 'Zelda (Europe).zip', archive_members: [{ name: 'Zelda (Europe).nes', size: GAME.length }] }])
  t.match((await scan({ platform_fs_slugs: ['nes'] })).meta.scan_stats, { new_roms: 0, updated_roms: 0, scanned_roms: 1 },
    'a scan finds what it would have written itself')
  t.equal((await rom('nes', 'Zelda (Europe).zip')).id, before.id)
})

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

t.test('a dry run reports changes and savings and changes nothing', async (t) => {
  const platform = await addPlatform('gba', { 'Dry.gba': GAME, 'Wet.zip': await makeZip([{ name: 'Wet.gba', bytes: GAME }]) })
  const before = await list('gba')
  const zip = await convert({ to: 'zip', platform_ids: [platform], dry_run: true })
  t.match(zip.meta, {
    dry_run: true, converted_count: 1, left_count: 1, bytes_before: GAME.length,
    converted: [{ fs_name: 'Dry.gba', to: 'zip', bytes_before: GAME.length }]
  })
  t.ok(Number(zip.meta.bytes_saved) > GAME.length / 2, `${String(zip.meta.bytes_saved)} bytes saved`)
  t.match((await convert({ to: 'plain', platform_ids: [platform], dry_run: true })).meta.converted, [{ fs_name: 'Wet.zip', bytes_after: GAME.length }])
  t.same(await list('gba'), before)
  t.same(await sql('select * from rom_conversions'), [])
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

t.test('a member with a path outside the folder is not unpacked', async (t) => {
  const evil = await makeZip([{ name: 'aa/bb.sms', bytes: GAME }])
  const platform = await addPlatform('sms', { 'Evil.zip': Buffer.from(evil.toString('latin1').replaceAll('aa/bb', '../bb'), 'latin1') })
  t.match((await convert({ to: 'plain', platform_ids: [platform] })).meta.conversion_stats, { errors: 1 })
  t.same(await list('sms'), ['Evil.zip'])
  t.notOk(await exists(at('bb.sms')))
})

t.test('sheets are compared by the layout of the disc, not by their text', (t) => {
  const many = ['FILE "A (Track 1).bin" BINARY', 'TRACK 01 MODE2/2352', 'INDEX 01 00:00:00', 'FILE "A (Track 2).bin" BINARY',
    'TRACK 02 AUDIO', 'INDEX 00 00:00:00', 'INDEX 01 00:02:00'].join('\r\n')
  const one = ['FILE A.bin BINARY', '  TRACK 1 MODE2/2352', '    INDEX 1 00:00:00', '  TRACK 2 AUDIO', '    INDEX 0 00:04:01',
    '    INDEX 1 00:06:01'].join('\n')
  const sizes = new Map([['A (Track 1).bin', 301 * 2352], ['A (Track 2).bin', 353 * 2352], ['A.bin', 654 * 2352]])
  const layout = describeLayout('A.cue', many, sizes)
  t.type(layout, 'string')
  t.equal(describeLayout('A.cue', one, sizes), layout)
  t.not(describeLayout('A.cue', one.replace('00:06:01', '00:06:02'), sizes), layout)
  t.not(describeLayout('A.cue', `${one}\nPREGAP 00:02:00`, sizes), layout)
  t.equal(describeLayout('A.cue', 'no sheet at all', sizes), null)
  t.equal(findLoss(many), null)
  for (const line of ['CATALOG 1', 'INDEX 02 00:03:00', 'REM SESSION 02', 'REM HIGH-DENSITY AREA', 'FILE "A.wav" WAVE', 'FLAGS DCP']) {
    t.type(findLoss(`${many}\n${line}`), 'string', line)
  }
  t.end()
})

t.test('a playlist gets the new names of files and no other change', (t) => {
  const line = fc.string().filter((text) => !/[\r\n]/.test(text) && text.trim() !== 'old.cue' && !text.trim().endsWith('/old.cue'))
  fc.assert(fc.property(fc.array(line), fc.array(line), fc.constantFrom('\n', '\r\n'), (before, after, end) => {
    const text = (name: string) => [...before, `  ./${name} `, name, ...after].join(end)
    t.equal(renameInPlaylist(text('old.cue'), new Map([['old.cue', 'new.chd']])), text('new.chd'))
  }), { numRuns: 50 })
  t.equal(renameInPlaylist('#old.cue\nold.cue.txt', new Map([['old.cue', 'x']])), '#old.cue\nold.cue.txt')
  t.end()
})

t.test('arguments are validated before the task is queued', async (t) => {
  for (const payload of [{}, { to: 'rar' }, { to: 'zip', platform_ids: 'all' }, { to: 'zip', more: true }]) {
    t.equal((await run(payload)).statusCode, 422, JSON.stringify(payload))
  }
  t.match(await run({ to: 'rar' }), { body: /Expected one of zip, chd, plain/ })
})

t.test('without chdman a conversion to CHD is refused with instructions to install it', async (t) => {
  const { PATH: path = '' } = process.env
  process.env.PATH = t.testdir({})
  t.teardown(() => { process.env.PATH = path })
  const answer = await run({ to: 'chd' })
  t.match(answer, { statusCode: 409, body: /chdman, .* is not installed.*mame-tools/ })
})

/** Starts a scan that runs until the returned function is called, while a conversion waits ready to swap. */
async function holdScan (): Promise<() => Promise<void>> {
  const id = crypto.randomUUID()
  await sql('insert into tasks (id, title, type, status, worker_id, started_at) values ($1, \'Held\', \'scan\', \'started\', $2, now())',
    [id, test.worker?.workers.id])
  return async () => { await sql("update tasks set status = 'finished', ended_at = now() where id = $1", [id]) }
}

const readBegun = async () => (await sql<{ rom_id: number, work_path: string }>('select rom_id, work_path from rom_conversions'))[0]

t.test('a conversion waits for a scan, and a stop leaves no trace', async (t) => {
  const platform = await addPlatform('lynx', { 'Wait.lnx': GAME })
  const release = await holdScan()
  t.teardown(release)
  const id = await start({ to: 'zip', platform_ids: [platform] })
  const work = (await until(readBegun, 'it began')).work_path
  await until(() => exists(join(libraryDir, work, '0', 'Wait.zip')), 'the new file is written')
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

t.test('a file that changes while it is converted is not replaced', async (t) => {
  const platform = await addPlatform('vectrex', { 'Edit.vec': GAME })
  const release = await holdScan()
  t.teardown(release)
  const id = await start({ to: 'zip', platform_ids: [platform] })
  const work = (await until(readBegun, 'it began')).work_path
  await until(() => exists(join(libraryDir, work, '0', 'Edit.zip')), 'it is written')
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
  const release = await holdScan()
  t.teardown(release)
  const id = await start({ to: 'zip', platform_ids: [platform], rom_ids: [gone.id] })
  const work = (await until(readBegun, 'it began')).work_path
  await until(() => exists(join(libraryDir, work, '0', 'Gone.zip')), 'it is written')
  await rm(at('ngp', 'Gone.ngp'))
  await release()
  t.match((await finished(id)).meta, { conversion_stats: { errors: 1 } })
  t.same(await list('ngp'), ['Here.ngp'])
})

const services = { db: app.db, library: app.library }

/** Writes the state that a process leaves if it ends just before the swap. */
async function leaveBegun (folder: string, name: string) {
  const platform = await addPlatform(folder, { [`${name}.v`]: GAME })
  const { id } = await rom(folder, `${name}.v`)
  const [work, path] = [`roms/${folder}/.svc-convert-${id}-00000000`, `roms/${folder}`]
  await put({ [`${work}/0/${name}.zip`]: await makeZip([{ name: `${name}.v`, bytes: GAME }]) })
  const facts = async (file: string) => {
    const { ino, size, mtimeMs } = await stat(join(libraryDir, file), { bigint: true })
    return { inode: String(ino), size: Number(size), mtime: Number(mtimeMs) }
  }
  const made = await facts(`${work}/0/${name}.zip`)
  const entry = {
    fs_name: `${name}.zip`, kind: 'file' as const, problems: [],
    files: [{
      file_name: `${name}.zip`, file_path: path, absolute_path: '', file_size_bytes: made.size, mtime: made.mtime, inode: made.inode,
      is_top_level: true, category: null
    }]
  }
  const swap = {
    placings: [{ from: `${work}/0/${name}.zip`, to: `${path}/${name}.zip`, inode: made.inode, replaces: false }],
    originals: [{ path: `${path}/${name}.v`, ...await facts(`${path}/${name}.v`) }],
    write: {
      row: toRomRow({ entry, hashes: unhashed(entry) }, path, { id, stored_name: `${name}.v`, writes_tags: false }),
      files: toFileRows({ entry, hashes: unhashed(entry) })
    }
  }
  await sql('insert into rom_conversions (rom_id, platform_id, work_path, swap) values ($1, $2, $3, $4)', [id, platform, work, JSON.stringify(swap)])
  return { id, work: join(libraryDir, work), from: join(libraryDir, work, '0', `${name}.zip`), to: at(folder, `${name}.zip`), old: at(folder, `${name}.v`) }
}

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

t.test('a conversion that cannot be finished keeps the old file', async (t) => {
  const taken = await leaveBegun('taken', 'Game')
  await writeFile(taken.to, 'somebody put this here')
  t.match(await finishConversion(services, taken.id), /'Game\.zip' already exists/)
  t.same(await list('taken'), ['Game.v', 'Game.zip'])
  t.equal(await readFile(taken.to, 'utf8'), 'somebody put this here')
  const edited = await leaveBegun('edited', 'Game')
  await rename(edited.from, edited.to)
  await writeFile(edited.old, 'a better dump')
  t.match(await finishConversion(services, edited.id), /changed during the conversion/)
  t.same(await list('edited'), ['Game.v'])
  t.match(await roms('edited'), [{ fs_name: 'Game.v' }])
})

t.test('an interrupted conversion waits while the disk is away', async (t) => {
  const left = await leaveBegun('away', 'Game')
  await rename(at('away'), at('elsewhere'))
  await mkdir(at('away'))
  await recoverConversions(services, true)
  t.equal((await sql('select 1 from rom_conversions')).length, 1)
  await rm(at('away'), { recursive: true })
  await rename(at('elsewhere'), at('away'))
  await recoverConversions(services, true)
  t.same(await list('away'), ['Game.zip'])
  t.match(await roms('away'), [{ id: left.id, fs_name: 'Game.zip' }])
})

t.test('the next conversion removes temporary files', async (t) => {
  const platform = await addPlatform('debris', { 'Game.v': GAME })
  await put({ 'roms/debris/.svc-convert-9-00000000/0/half.zip': 'half' })
  await sql('insert into rom_conversions (rom_id, platform_id, work_path) values (9, $1, \'roms/debris/.svc-convert-9-00000000\')', [platform])
  await scan({ platform_fs_slugs: ['debris'] })
  t.same(await list('debris'), ['Game.v'], 'or the next scan, while nothing is converted')
  t.equal((await roms('debris')).length, 1)
})

t.test('copies of unknown conversions are removed after a day', async (t) => {
  await put({
    'roms/left/Game.v': GAME, 'roms/left/.svc-convert-7-00000000/0/old.zip': 'old', 'roms/left/.svc-convert-8-00000000/0/new.zip': 'new'
  })
  const yesterday = new Date(Date.now() - 90_000_000)
  await utimes(at('left', '.svc-convert-7-00000000'), yesterday, yesterday)
  const answer = await app.inject({ method: 'POST', url: '/api/tasks/run/cleanup_conversion_cache', headers: admin })
  const { status, meta } = await finished(answer.json<{ task_id: string }>().task_id)
  t.match({ status, meta }, { status: 'finished', meta: { cleanup_stats: { folders_found: 2, folders_removed: 1 } } })
  t.same(await list('left'), ['.svc-convert-8-00000000', '.svc-convert-8-00000000/0', '.svc-convert-8-00000000/0/new.zip', 'Game.v'])
})
