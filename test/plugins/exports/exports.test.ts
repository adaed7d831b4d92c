import { link, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import t from 'tap'
import { readPreferences } from '../../../core/loader/context.ts'
import { createMemo } from '../../../core/loader/calls/memo.ts'
import { createPicture, shareExportApp } from './library.ts'
import { readGamelist, scan } from './exports-support.ts'

const fresh = shareExportApp(t)

t.test('both exports name their files and contain every ROM on disk', async (t) => {
  const { app, addPlatform, addRom, call, snes } = await fresh(t)
  const id = await addPlatform('snes', { custom_name: 'My SNES' })
  const first = await addRom(id, {
    fs_name: 'Alpha & Omega (USA).sfc', name: 'Alpha & Omega', summary: 'Two\nlines', genres: ['Puzzle', 'Action'],
    developers: ['Dev'], publishers: ['Pub'], regions: ['USA'], languages: ['English'], tags: ['Proto'],
    player_count: '1-2', first_release_date: Date.UTC(1994, 4, 6), average_rating: 81.5
  })
  await addRom(id, { fs_name: 'Beta.sfc' })
  await addRom(id, { fs_name: 'Gone.sfc', missing_from_fs: true })

  const { status, body } = await call('gamelist-xml', { body: { platforms: ['snes'] } })
  t.equal(status, 200)
  t.same(body, {
    files: [{
      exporter: 'gamelist', platform: 'snes', library_id: 1, path: snes('gamelist.xml'), written: true, games: 2, media_files: 0,
      skipped: [], media_errors: []
    }],
    errors: []
  })
  const games = readGamelist(await readFile(snes('gamelist.xml'), 'utf8'))
  t.same([...games.keys()], ['./Alpha & Omega (USA).sfc', './Beta.sfc'])
  t.match(games.get('./Alpha & Omega (USA).sfc'), {
    name: 'Alpha & Omega', desc: 'Two\nlines', genre: 'Puzzle', developer: 'Dev', publisher: 'Pub', players: '1-2',
    releasedate: '19940506T000000', lang: 'English', region: 'USA'
  })
  t.notHas(games.get('./Beta.sfc'), 'players', 'a player count nobody knows is not stated')

  await app.pg.query("insert into rom_dumps (rom_id, status, compared_at) values ($1, 'verified', now())", [first])
  const pegasus = await call('pegasus')
  t.equal(pegasus.body.files[0].path, snes('metadata.pegasus.txt'))
  const text = await readFile(snes('metadata.pegasus.txt'), 'utf8')
  t.match(text, /^file: \.\/Alpha & Omega \(USA\)\.sfc$/m)
  t.match(text, new RegExp(`^x-dump-status: verified\nx-svc-id: ${first}$`, 'm'))
  t.notMatch(text, /Gone/)
})

t.test('a second export writes nothing', async (t) => {
  const { addPlatform, addRom, addResource, call, snes } = await fresh(t)
  const cover = await addResource('roms/1/1/cover/big.webp', await createPicture('webp'))
  await addRom(await addPlatform('snes'), { fs_name: 'Alpha.sfc', path_cover_large: cover })
  await call('gamelist-xml')
  await call('pegasus')
  const paths = ['gamelist.xml', 'metadata.pegasus.txt', 'covers', 'covers/Alpha.jpg', '.']
  const states = () => Promise.all(paths.map(async (path) => {
    const { ino, mtimeMs } = await stat(snes(path))
    return [path, ino, mtimeMs]
  }))
  const before = await states()
  for (const route of ['gamelist-xml', 'pegasus']) {
    const { body } = await call(route)
    t.equal(body.files[0].written, false)
    t.equal(body.files[0].games, 1)
  }
  t.same(await states(), before)
  t.notOk((await readdir(snes())).some((name) => name.endsWith('.bak')))
})

t.test("the owner's edits stay, and the former file is stored beside", async (t) => {
  const { addPlatform, addRom, call, snes } = await fresh(t)
  const platform = await addPlatform('snes')
  await addRom(platform, { fs_name: 'Alpha.sfc', name: 'Alpha', summary: 'New', is_identified: true })
  await addRom(platform, { fs_name: 'sf2.sfc', name: 'sf2' })
  const gamelist = '<?xml version="1.0"?>\n<gameList>\n  <!-- mine -->\n  <game>\n    <path>./Alpha.sfc</path>\n' +
    '    <name>Old</name><desc>Old</desc>\n    <favorite>true</favorite>\n  </game>\n' +
    '  <game><path>./sf2.sfc</path><name>Storm Front 2</name></game>\n  <game><path>./Other.sfc</path></game>\n</gameList>\n'
  const pegasus = 'collection: Mine\nlaunch: run {file.path}\n\n# note\ngame: Alpha\nfile: Alpha.sfc\nx-mine: 1\n'
  await writeFile(snes('gamelist.xml'), gamelist, { mode: 0o640 })
  await writeFile(snes('metadata.pegasus.txt'), pegasus)
  t.equal((await call('gamelist-xml')).status, 200)
  t.equal((await call('pegasus')).status, 200)

  const written = await readFile(snes('gamelist.xml'), 'utf8')
  t.match(written, '<!-- mine -->')
  const games = readGamelist(written)
  t.match(games.get('./Alpha.sfc'), { name: 'Alpha', desc: 'New', favorite: 'true' })
  t.equal(games.get('./sf2.sfc')?.name, 'Storm Front 2', 'the library knows only the name of the file')
  t.ok(games.has('./Other.sfc'))
  t.equal((await stat(snes('gamelist.xml'))).mode & 0o777, 0o640)
  t.equal(await readFile(snes('gamelist.xml.bak'), 'utf8'), gamelist)

  const metadata = await readFile(snes('metadata.pegasus.txt'), 'utf8')
  for (const line of ['collection: Mine', 'launch: run {file.path}', '# note', 'x-mine: 1', 'description: New']) {
    t.ok(metadata.split('\n').includes(line), line)
  }
  t.equal(await readFile(snes('metadata.pegasus.txt.bak'), 'utf8'), pegasus)
  t.notOk((await readdir(snes())).some((name) => name.endsWith('.tmp')))
})

t.test('the entry of a file that is renamed on disk follows it in both formats', async (t) => {
  const { app, admin, call, snes } = await fresh(t, { library: { roms: { snes: { 'Alpha.sfc': 'alpha', 'Beta.sfc': 'beta' } } } })
  await scan(app, admin)
  for (const route of ['gamelist-xml', 'pegasus']) await call(route)
  const edit = async (name: string, change: (text: string) => string) => writeFile(snes(name), change(await readFile(snes(name), 'utf8')))
  await edit('gamelist.xml', (text) => text.replace('<name>Alpha</name>', '<name>Alpha</name><favorite>true</favorite>')
    .replace('</gameList>', '<game><path>./Gone.sfc</path></game></gameList>'))
  await edit('metadata.pegasus.txt', (text) => `${text.replace('x-svc-id', 'x-mine: 1\nx-svc-id')}\ngame: Gone\nfile: Gone.sfc\n`)
  await rename(snes('Alpha.sfc'), snes('Alpha (USA).sfc'))
  await scan(app, admin)
  for (const route of ['gamelist-xml', 'pegasus', 'gamelist-xml', 'pegasus']) await call(route)

  const games = readGamelist(await readFile(snes('gamelist.xml'), 'utf8'))
  t.same([...games.keys()], ['./Alpha (USA).sfc', './Beta.sfc', './Gone.sfc'])
  t.equal(games.get('./Alpha (USA).sfc')?.favorite, 'true')
  const metadata = await readFile(snes('metadata.pegasus.txt'), 'utf8')
  t.same(metadata.match(/^file: .*$/gm), ['file: ./Alpha (USA).sfc', 'file: ./Beta.sfc', 'file: Gone.sfc'])
  t.match(metadata, 'x-mine: 1')

  // A file that is away during an export may return under another name.
  await rename(snes('Beta.sfc'), snes('..', 'Beta.sfc'))
  await scan(app, admin)
  await call('gamelist-xml')
  await rename(snes('..', 'Beta.sfc'), snes('Beta 2.sfc'))
  await scan(app, admin)
  await call('gamelist-xml')
  t.same([...readGamelist(await readFile(snes('gamelist.xml'), 'utf8')).keys()], ['./Alpha (USA).sfc', './Beta 2.sfc', './Gone.sfc'])
})

t.test('an export of a library that is not mounted is 503 and names it once', async (t) => {
  const { addPlatform, addRom, call, libraryDir } = await fresh(t, { library: { roms: { nes: {}, snes: {} } } })
  await addRom(await addPlatform('snes'), { fs_name: 'Alpha.sfc' })
  await addRom(await addPlatform('nes'), { fs_name: 'Beta.nes' })
  await rename(libraryDir, `${libraryDir}.away`)
  t.teardown(() => rename(`${libraryDir}.away`, libraryDir))
  const { status, body } = await call('gamelist-xml')
  t.equal(status, 503)
  t.match(body.detail, /^The library 'library' is not mounted: .*does not exist\. Mount its disk, then try again$/)
})

t.test('an invalid file is left alone, and the export continues with other platforms', async (t) => {
  const { addPlatform, addRom, call, snes, libraryDir } = await fresh(t, {
    library: { roms: { nes: {}, snes: {} } }
  })
  await addRom(await addPlatform('snes'), { fs_name: 'Alpha.sfc' })
  await addRom(await addPlatform('nes'), { fs_name: 'Beta.nes' })
  await writeFile(snes('gamelist.xml'), '<gameList><game></gameList>')
  const { status, body } = await call('gamelist-xml')
  t.equal(status, 200)
  t.match(body.files, [{ platform: 'nes', written: true }])
  t.match(body.errors, [{ exporter: 'gamelist', platform: 'snes', path: snes('gamelist.xml'), reason: /cannot be read/ }])
  t.equal(await readFile(snes('gamelist.xml'), 'utf8'), '<gameList><game></gameList>')
  t.ok(readGamelist(await readFile(`${libraryDir}/roms/nes/gamelist.xml`, 'utf8')).has('./Beta.nes'))

  const alone = await call('gamelist-xml', { body: { platforms: ['snes'] } })
  t.equal(alone.status, 500)
  t.match(alone.body.detail, /No file could be written.*snes\/gamelist\.xml: .*cannot be read/s)

  await writeFile(snes('gamelist.xml'), Buffer.from('<gameList>\xff</gameList>', 'latin1'))
  t.match((await call('gamelist-xml', { body: { platforms: ['snes'] } })).body.detail, /not valid UTF-8/)
})

t.test('platforms are named by slug, folder or id; no name means all on disk', async (t) => {
  const { addPlatform, addRom, call, libraryDir } = await fresh(t, {
    library: { roms: { nes: {}, 'super-nes': {}, away: {} } }
  })
  const nes = await addPlatform('nes')
  const snes = await addPlatform('super-nes', { slug: 'snes' })
  await addPlatform('away', { missing_from_fs: true })
  await addRom(snes, { fs_name: 'Alpha.sfc' })
  const exported = async (options: { body?: object, query?: string }) =>
    (await call('gamelist-xml', options)).body.files.map((file: { path: string }) => file.path)
  const [nesFile, snesFile] = ['nes', 'super-nes'].map((folder) => `${libraryDir}/roms/${folder}/gamelist.xml`)

  t.same(await exported({}), [nesFile, snesFile])
  t.same(await exported({ body: {} }), [nesFile, snesFile])
  t.same(await exported({ body: { platforms: [] } }), [nesFile, snesFile])
  t.same(await exported({ body: { platforms: ['snes'] } }), [snesFile])
  t.same(await exported({ body: { platforms: ['super-nes'] } }), [snesFile])
  t.same(await exported({ query: `?platform_ids=${nes}&local_export=true` }), [nesFile])
  t.same(await exported({ query: `?platform_ids=${nes}&platform_ids=${snes}` }), [nesFile, snesFile])
  t.same(await exported({ body: { platforms: ['nes'] }, query: `?platform_ids=${snes}` }), [nesFile, snesFile])

  const unknown = await call('pegasus', { body: { platforms: ['nes', 'atlantis'] } })
  t.equal(unknown.status, 404)
  t.match(unknown.body.detail, /atlantis/)
  t.equal((await call('pegasus', { query: '?platform_ids=999' })).status, 404)
  t.equal((await call('pegasus', { body: { platforms: 'snes' } })).status, 422)
  t.equal((await call('pegasus', { query: '?platform_ids=x' })).status, 422)
})

t.test('exports need a credential with roms.write and an exporter that is active', async (t) => {
  const { app, addPlatform, createUser, call } = await fresh(t)
  await addPlatform('snes')
  t.equal((await call('gamelist-xml', { headers: { authorization: 'Bearer svc_none' } })).status, 401)
  t.equal((await call('gamelist-xml', { headers: await createUser('alice') })).status, 403)
  t.equal((await call('atlantis')).status, 404)
  const token = await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: await createUser('bob'),
    payload: { name: 't', scopes: ['me.read'] }
  })
  t.equal(token.statusCode, 201)
  t.equal((await call('gamelist-xml', { headers: { authorization: `Bearer ${token.json().raw_token}` } })).status, 403)
})

t.test('games in folders keep their folder, and so do their media', async (t) => {
  const { addPlatform, addRom, addResource, call, app, snes } = await fresh(t)
  const id = await addPlatform('snes')
  const cover = await addResource('roms/1/1/cover/big.png', await createPicture('png'))
  const nested = await addRom(id, {
    fs_name: 'Metroid', is_folder: true, has_nested_single_file: true, path_cover_large: cover
  })
  await addRom(id, { fs_name: 'Quest v1.2', is_folder: true, has_multiple_files: true, path_cover_large: cover })
  await addRom(id, { fs_name: 'Deep.sfc', fs_path: 'roms/snes/Hacks/New', path_cover_large: cover })
  await app.pg.query(`insert into rom_files (rom_id, file_name, file_path, last_modified)
    values ($1, 'Metroid (USA).sfc', 'roms/snes/Metroid', now())`, [nested])
  t.equal((await call('gamelist-xml')).body.files[0].games, 3)
  const games = readGamelist(await readFile(snes('gamelist.xml'), 'utf8'))
  t.equal(games.get('./Metroid/Metroid (USA).sfc')?.thumbnail, './covers/Metroid/Metroid (USA).png')
  t.equal(games.get('./Quest v1.2')?.thumbnail, './covers/Quest v1.2.png')
  t.equal(games.get('./Hacks/New/Deep.sfc')?.thumbnail, './covers/Hacks/New/Deep.png')
  await stat(snes('covers/Hacks/New/Deep.png'))
})

t.test('in structure B the files are in the ROM folder of each platform', async (t) => {
  const { addPlatform, addRom, call, libraryDir } = await fresh(t, { library: { snes: { roms: {} } } })
  await addRom(await addPlatform('snes'), { fs_name: 'Alpha.sfc', fs_path: 'snes/roms' })
  t.equal((await call('gamelist-xml')).body.files[0].path, `${libraryDir}/snes/roms/gamelist.xml`)
  t.ok(readGamelist(await readFile(`${libraryDir}/snes/roms/gamelist.xml`, 'utf8')).has('./Alpha.sfc'))
})

t.test('ROMs of several pages are all exported, in the order of their names', async (t) => {
  const { app, addPlatform, call, snes } = await fresh(t)
  const id = await addPlatform('snes')
  await app.pg.query(`insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
    select $1, 'Game ' || lpad(n::text, 5, '0') || '.sfc', 'roms/snes', 'Game ' || n, 'Game ' || n
    from generate_series(1, 2500) n`, [id])
  t.equal((await call('gamelist-xml')).body.files[0].games, 2500)
  const paths = [...readGamelist(await readFile(snes('gamelist.xml'), 'utf8')).keys()]
  t.equal(paths.length, 2500)
  t.same(paths, paths.toSorted())
})

t.test('only administrators see the path of the library', async (t) => {
  const { app, addPlatform, addRom, libraryDir, createUser, snes } = await fresh(t)
  await addRom(await addPlatform('snes'), { fs_name: 'Alpha.sfc' })
  const headers = await createUser('writer')
  await app.pg.query(`insert into permission_grants (group_id, entity, action, own_only)
    select id, 'roms', 'write', false from permission_groups where is_default`)
  const ask = () => app.inject({ method: 'POST', url: '/api/export/gamelist-xml', headers, payload: {} })
  const reply = await ask()
  t.match(reply.json(), { files: [{ path: '<library>/roms/snes/gamelist.xml' }] })
  await rm(snes('gamelist.xml'))
  await mkdir(snes('gamelist.xml'))
  const refused = await ask()
  t.equal(refused.statusCode, 500)
  t.match(refused.body, '<library>/roms/snes')
  for (const { body } of [reply, refused]) t.notMatch(body, libraryDir)
})

t.test('concurrent exports of one platform lose nothing', async (t) => {
  const { addPlatform, addRom, call, worker, snes } = await fresh(t)
  const id = await addPlatform('snes')
  await addRom(id, { fs_name: 'Alpha.sfc' })
  const { signal } = new AbortController()
  const [first, second, third] = await Promise.all([
    call('gamelist-xml'), call('gamelist-xml'), worker.exports.exportPlatforms({ platformIds: [id], signal })
  ])
  t.match([first, second], [{ status: 200, body: { errors: [] } }, { status: 200, body: { errors: [] } }])
  t.equal(third.files.length, 2)
  t.same(first.body, second.body, 'who asks again for what is under way joins it')
  const written = [first.body.files[0], third.files[0]].filter((file) => file.written)
  t.equal(written.length, 1, 'one writes, the other finds it done')
  t.equal(readGamelist(await readFile(snes('gamelist.xml'), 'utf8')).size, 1)
})

t.test('a scan runs the exports that are switched on, without a restart', async (t) => {
  const { addPlatform, addRom, worker, config, snes } = await fresh(t)
  const id = await addPlatform('snes')
  const other = await addPlatform('nes')
  await addRom(id, { fs_name: 'Alpha.sfc' })
  const run = () => worker.exports.exportAfterScan([id], new AbortController().signal)
  t.same(await run(), { files: [], errors: [] })
  await writeFile(`${config.data_dir}/config.yml`, 'scan:\n  pegasus:\n    export: true\n  gamelist:\n    export: "yes"\n')
  t.match(await run(), { files: [{ exporter: 'pegasus', written: true }], errors: [] })
  t.same(await readdir(snes()), ['metadata.pegasus.txt'])
  await writeFile(`${config.data_dir}/config.yml`, 'scan: {gamelist: {export: true}, pegasus: {export: true}}\n')
  t.same((await run()).files.map((file) => file.exporter), ['gamelist', 'pegasus'])
  const failed = await worker.exports.exportAfterScan([other], new AbortController().signal)
  t.match(failed.errors[0], { platform: 'nes', reason: /does not exist/ })
})

t.test('an exporter uses the settings of the current file, or the last valid ones', async (t) => {
  const { worker, config } = await fresh(t)
  const scope = { signal: new AbortController().signal, memo: createMemo(), preferences: readPreferences(config) }
  const settings = () => worker.registry.exporters.get('gamelist')?.context(scope).config
  const write = (text: string) => writeFile(`${config.data_dir}/config.yml`, text)
  t.same(settings(), {})
  await write('scan: {gamelist: {media: {thumbnail: miximage}}}\n')
  t.match(settings(), { media: { thumbnail: 'miximage' } })
  await write('scan: {gamelist: {media: 12}}\n')
  t.match(settings(), { media: { thumbnail: 'miximage' } })
})

t.test('a failed export at the end of a scan is among its problems', async (t) => {
  const { app, admin, config, snes } = await fresh(t)
  await mkdir(snes('gamelist.xml'), { recursive: true })
  await writeFile(snes('Alpha.sfc'), 'alpha')
  await writeFile(`${config.data_dir}/config.yml`, 'scan: {gamelist: {export: true}}\n')
  const { meta } = await scan(app, admin)
  t.match(meta.problems.at(-1), { platform: 'snes', path: /gamelist\.xml/, reason: /^not exported: / })
})

t.test('an exporter that hangs costs its time limit once, and the others go on', async (t) => {
  const { addPlatform, addRom, worker } = await fresh(t, { library: { roms: { nes: {}, snes: {} } } })
  for (const slug of ['nes', 'snes']) await addRom(await addPlatform(slug), { fs_name: 'Alpha.rom' })
  const gamelist = worker.registry.exporters.get('gamelist')
  if (gamelist === undefined) throw new Error('gamelist is not active')
  let calls = 0
  const hang = () => {
    calls++
    return new Promise(() => {})
  }
  t.intercept(gamelist.definition, 'render', { value: hang })
  const { signal } = new AbortController()
  const { files, errors } = await worker.exports.exportPlatforms({ renderTimeoutMs: 20, signal })
  t.same(calls, 1)
  t.same(files.map(({ exporter, platform }) => [exporter, platform]), [['pegasus', 'nes'], ['pegasus', 'snes']])
  t.same(errors.map(({ platform, reason }) => [platform, reason]), [
    ['nes', "The exporter 'gamelist' did not answer within 0.02 s"],
    ['snes', "The exporter 'gamelist' hung at an earlier platform and is skipped"]
  ])
})

t.test('a stopped export throws the reason and leaves no partial file', async (t) => {
  const { addPlatform, addRom, worker, snes } = await fresh(t)
  const id = await addPlatform('snes')
  await addRom(id, { fs_name: 'Alpha.sfc' })
  const reason = new Error('stopped by the test')
  await t.rejects(worker.exports.exportPlatforms({ platformIds: [id], signal: AbortSignal.abort(reason) }), reason)
  t.same(await readdir(snes()), [])
})

t.test('a file that a frontend writes meanwhile is not overwritten', async (t) => {
  const { replaceTextFile, readTextFile } = await import('../../../plugins/exports/text-file.ts')
  const folder = t.testdir({ 'gamelist.xml': 'old' })
  const file = await readTextFile(folder, 'gamelist.xml')
  await writeFile(`${folder}/gamelist.xml`, 'played')
  await t.rejects(replaceTextFile(file, 'new'), /Another program changed the file/)
  t.equal(await readFile(`${folder}/gamelist.xml`, 'utf8'), 'played')
  t.same(await readdir(folder), ['gamelist.xml'])
})

t.test('a backup that is a link to the file itself is replaced', async (t) => {
  const { replaceTextFile, readTextFile } = await import('../../../plugins/exports/text-file.ts')
  const folder = t.testdir({ 'gamelist.xml': 'old' })
  await link(`${folder}/gamelist.xml`, `${folder}/gamelist.xml.bak`)
  await replaceTextFile(await readTextFile(folder, 'gamelist.xml'), 'new')
  t.same((await readdir(folder)).sort(), ['gamelist.xml', 'gamelist.xml.bak'])
  t.equal(await readFile(`${folder}/gamelist.xml.bak`, 'utf8'), 'old')
  await mkdir(`${folder}/sub`)
  t.equal((await readTextFile(folder, 'sub/none.txt')).text, null)
})

t.test('the report of a worker of the former release, which lacks a field, is understood', async (t) => {
  const { app, addPlatform, call } = await fresh(t)
  await addPlatform('snes')
  const errors = [{ exporter: 'gamelist', platform: 'snes', path: 'gamelist.xml', reason: 'The disk is full' }]
  t.intercept(app.jobs, 'request', { value: async () => ({ files: [], errors }) })
  const { status, body } = await call('gamelist-xml')
  t.same([status, body], [500, { detail: 'No file could be written. gamelist.xml: The disk is full' }])
})
