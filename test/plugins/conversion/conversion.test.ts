import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import fc from 'fast-check'
import t from 'tap'
import { describeLayout, findLoss, renameInPlaylist } from '../../../plugins/conversion/sheets.ts'
import { finishConversion, recoverConversions } from '../../../plugins/conversion/swap-files.ts'
import { makeZip } from '../hashing/fixtures.ts'
import { GAME, type Meta, startConversion } from './conversion-support.ts'

const {
  test, app, admin, put, scan, rom, roms, sql, finished, at, list, run, convert, addPlatform, leaveBegun
} = await startConversion(t)

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

t.test('V9: a conversion and its report leave out ROMs hidden from their reader', async (t) => {
  const platform = await addPlatform('lynx', { 'Seen.lnx': GAME, 'Veiled.lnx': GAME })
  const veiledPlatform = await addPlatform('atari2600', { 'Other.a26': GAME })
  const keeper = await test.createUser('keeper')
  const [{ id: userId = 0 } = {}] = await sql<{ id: number }>("select id from users where username = 'keeper'")
  await sql(`insert into permission_overrides (user_id, entity, action, own_only, granted)
    select $1, entity, action, false, true from (values ('roms', 'read'), ('roms', 'write'), ('roms', 'delete'), ('tasks', 'write'))
      as given (entity, action)`, [userId])
  const veiled = await rom('lynx', 'Veiled.lnx')
  await sql("insert into hidden_entities (entity, entity_id, user_id) values ('roms', $2, $1), ('platforms', $3, $1)",
    [userId, veiled.id, veiledPlatform])
  const ask = async (path: string) => (await app.inject({ url: `/api/tasks/${path}`, headers: keeper })).body
  const convertAs = async (payload: object) => {
    const reply = await app.inject({ method: 'POST', url: '/api/tasks/run/convert_library', headers: keeper, payload })
    return (await finished(reply.json<{ task_id: string }>().task_id)).meta as unknown as Meta
  }

  t.match(await convertAs({ to: 'zip', rom_ids: [veiled.id] }), { conversion_stats: { processed: 0, total: 0 }, converted: [] })
  t.match(await convertAs({ to: 'zip', platform_ids: [platform, veiledPlatform] }), {
    conversion_stats: { processed: 1, total: 1 }, converted: [{ fs_name: 'Seen.lnx' }]
  })
  t.same([await list('lynx'), await list('atari2600')], [['Seen.zip', 'Veiled.lnx'], ['Other.a26']])

  const { id, meta } = await convert({ to: 'zip', platform_ids: [platform, veiledPlatform], dry_run: true })
  t.equal(meta.converted.length, 2, 'an administrator reads the whole report')
  for (const path of [id, 'status']) t.notMatch(await ask(path), /Veiled|Other/, path)
  t.match(await ask(id), /Seen/)
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

t.test('a disc is not converted while a playlist outside of its folder names it', async (t) => {
  const cue = (name: string) => `\uFEFFFILE "${name}.bin" BINARY\n  TRACK 01 MODE1/2352\n    INDEX 01 00:00:00\n`
  const files = Object.fromEntries(['Two', 'One'].flatMap((name) =>
    [[`${name}/Disc.cue`, cue('Disc')], [`${name}/Disc.bin`, Buffer.alloc(2352)]]))
  const id = await addPlatform('saturn', { ...files, 'Two.m3u': './Two\\Disc.cue\r\n' })
  const { meta } = await convert({ to: 'chd', platform_ids: [id], dry_run: true })
  t.match(meta.converted, [{ fs_name: 'One' }], 'a sheet with a byte order mark names its tracks')
  t.match(meta.left.find(({ fs_name: name }) => name === 'Two'), { left: /^'Two\.m3u', which is outside of its folder, refers to it/ })
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

const services = { db: app.db, library: app.library }

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

t.test('a ROM is not converted to a name that scans skip', async (t) => {
  const several = await makeZip([{ name: 'a.gb', bytes: GAME }, { name: 'b.gb', bytes: GAME }])
  const id = await addPlatform('gb', { 'videos.zip': several, 'Game.zip': await makeZip([{ name: 'game.tmp', bytes: GAME }]) })
  const { meta } = await convert({ to: 'plain', platform_ids: [id] })
  t.same(meta.converted, [])
  t.match(JSON.stringify([meta.left, meta.problems]), /become 'videos', which scans skip/)
  t.same(await list('gb'), ['Game.zip', 'videos.zip'])
})

t.test('an archive whose content has another checksum keeps its file', async (t) => {
  const damaged = await makeZip([{ name: 'Game.gb', bytes: GAME }])
  damaged.writeUInt32LE(1, damaged.lastIndexOf('PK\x01\x02') + 16)
  const id = await addPlatform('gbc', { 'Game.zip': damaged })
  const { meta } = await convert({ to: 'plain', platform_ids: [id] })
  t.match(meta, { converted: [], problems: [{ fs_name: 'Game.zip', problem: /member 'Game\.gb' has a wrong checksum/ }] })
  t.same(await list('gbc'), ['Game.zip'])
})

t.test('a single file in a folder of an archive stays a file; several become a folder', async (t) => {
  const several = await makeZip([{ name: 'a.bin', bytes: GAME }, { name: 'b/c.bin', bytes: GAME }])
  const id = await addPlatform('gg', { 'One.zip': await makeZip([{ name: 'Some/Game.gg', bytes: GAME }]), 'Two.zip': several })
  const { sha1_hash: sha1 } = await rom('gg', 'One.zip')
  const { meta } = await convert({ to: 'plain', platform_ids: [id] })
  t.match(meta.converted, [{ fs_name: 'One.zip', to: 'One.gg' }, { fs_name: 'Two.zip', to: 'Two' }])
  t.same(await list('gg'), ['One.gg', 'Two', 'Two/a.bin', 'Two/b', 'Two/b/c.bin'])
  await scan({ platform_fs_slugs: ['gg'], type: 'hashes' })
  t.match(await rom('gg', 'One.gg'), { sha1_hash: sha1 })
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
