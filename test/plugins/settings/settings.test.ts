import { chmod, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { systemConfig } from '../../../plugins/platforms/config.ts'
import { resolvePlatform } from '../../../plugins/platforms/find-platform.ts'
import { readPriorities } from '../../../plugins/matching/merge-matches.ts'
import { buildTestApp, shareTestApp } from '../../support.ts'
import { addRom } from '../roms/support.ts'
import { SCAN, open, openPlugin } from './settings-support.ts'

const fresh = shareTestApp(t)

t.test('without a credential no setting of this library, its network or secrets is shown', async (t) => {
  const { write, show } = open(await fresh(t))
  await write(`
exclude: { platforms: [secret-folder] }
system: { platforms: { Hidden: snes }, versions: { Other: arcade } }
emulatorjs: { debug: true, netplay: { ice_servers: [{ urls: 'turn:10.0.0.1', credential: hunter2 }] } }
`)
  const stranger = await show({})
  t.same(Object.keys(stranger).sort(), Object.keys(await show()).sort(), 'the same shape')
  t.match(stranger, {
    CONFIG_FILE_PARSE_ERROR: null,
    EXCLUDED_PLATFORMS: [],
    EXCLUDED_SINGLE_EXT: [],
    PLATFORMS_BINDING: {},
    PLATFORMS_VERSIONS: {},
    EJS_NETPLAY_ICE_SERVERS: [],
    EJS_DEBUG: true,
    SCAN_LANGUAGE_PRIORITY: ['en']
  })
  t.notMatch(JSON.stringify(stranger), /secret-folder|Hidden|Other|10\.0\.0\.1|hunter2/)
})

t.test('a kiosk guest counts as a caller without a credential', async (t) => {
  const test = await buildTestApp(t, { env: { KIOSK_MODE: 'true' } })
  await open(test).write('system: { platforms: { Mine: snes } }')
  t.same((await open(test).show({})).PLATFORMS_BINDING, {})
})

t.test('a token that may not read platforms sees nothing of this library', async (t) => {
  const test = await fresh(t)
  const { write, show } = open(test)
  await write('system: { platforms: { Mine: snes } }')
  const shownTo = async (scopes: string[]) => {
    const { raw_token: token } = (await test.app.inject({
      method: 'POST', url: '/api/client-tokens', headers: test.admin, payload: { name: scopes.join(), scopes }
    })).json<{ raw_token: string }>()
    return (await show({ authorization: `Bearer ${token}` })).PLATFORMS_BINDING
  }
  t.same(await shownTo(['me.read']), {})
  t.same(await shownTo(['platforms.read']), { Mine: 'snes' })
})

t.test('the settings in effect are shown, including built-in ones', async (t) => {
  const { write, show } = open(await fresh(t))
  t.match(await show(), {
    CONFIG_FILE_MOUNTED: true,
    CONFIG_FILE_WRITABLE: true,
    SKIP_HASH_CALCULATION: false,
    EJS_CACHE_LIMIT: null,
    EJS_SETTINGS: {},
    EJS_CONTROLS: {},
    SCAN_REGION_PRIORITY: ['us', 'wor', 'ss', 'eu', 'jp'],
    SCAN_ARTWORK_PRIORITY_OVERRIDES: {},
    GAMELIST_AUTO_EXPORT_ON_SCAN: false,
    GAMELIST_MEDIA_THUMBNAIL: 'box2d',
    GAMELIST_MEDIA_IMAGE: 'screenshot'
  })
  await write(`
exclude: { platforms: [zzz, '@eaDir'], roms: { single_file: { extensions: [.TXT, db] } } }
filesystem: { skip_hash_calculation: true }
scan: { priority: { cover: [], manual: [ss] }, gamelist: { export: true, media: { thumbnail: box3d, image: hologram } } }
emulatorjs:
  cache_limit: 5
  netplay: { enabled: true, ice_servers: [{ urls: 'turn:turn.example', credential: hunter2 }] }
  settings: { default: { volume: 0.5, rewind: true, shader: crt } }
  controls: { snes9x: { 0: { 8: { value: x, value2: BUTTON_2 } } } }
`)
  const shown = await show()
  t.match(shown, {
    SKIP_HASH_CALCULATION: true,
    EJS_CACHE_LIMIT: 5,
    EJS_NETPLAY_ENABLED: true,
    SCAN_ARTWORK_PRIORITY_OVERRIDES: { url_cover: [], url_manual: ['ss'] },
    GAMELIST_AUTO_EXPORT_ON_SCAN: true,
    GAMELIST_MEDIA_THUMBNAIL: 'box3d',
    GAMELIST_MEDIA_IMAGE: 'screenshot'
  })
  t.same(shown.EJS_NETPLAY_ICE_SERVERS, [{ urls: 'turn:turn.example', credential: 'hunter2' }])
  t.same(shown.EJS_SETTINGS, { default: { volume: '0.5', rewind: 'true', shader: 'crt' } })
  t.same(shown.EJS_CONTROLS, { snes9x: { _0: { 8: { value: 'x', value2: 'BUTTON_2' } }, _1: {}, _2: {}, _3: {} } })
  const { EXCLUDED_PLATFORMS: folders, EXCLUDED_SINGLE_EXT: extensions } = shown as Record<string, string[]>
  t.equal(folders?.at(-1), 'zzz')
  t.equal(folders?.filter((folder) => folder === '@eaDir').length, 1)
  t.same(extensions, [...new Set([...(shown.DEFAULT_EXCLUDED_EXTENSIONS as string[]), 'txt'])].sort())
})

t.test("the binding of a hidden platform's folder is not shown", async (t) => {
  const test = await fresh(t)
  const { write, show } = open(test)
  const alice = await test.createUser('alice')
  await addRom(test, { fs_name: 'a.sfc', platform: 'secret' })
  await write('system: { platforms: { secret: snes, open: snes } }')
  await test.app.pg.query(`insert into hidden_entities (entity, entity_id, user_id)
    select 'platforms', p.id, u.id from platforms p, users u where p.fs_slug = 'secret' and u.username = 'alice'`)
  t.same((await show(alice)).PLATFORMS_BINDING, { open: 'snes' })
  t.same((await show()).PLATFORMS_BINDING, { secret: 'snes', open: 'snes' })
})

for (const [path, key] of [['platforms', 'PLATFORMS_BINDING'], ['versions', 'PLATFORMS_VERSIONS']] as const) {
  t.test(`a folder is bound once among ${path}, until it is unbound`, async (t) => {
    const { call, show, text, write } = open(await fresh(t))
    await write('# mine\nlater: 1\n')
    t.same(await call('POST', `system/${path}`, { fs_slug: 'My Disks', slug: 'psx' }), { status: 200, body: null })
    t.same((await show())[key], { 'My Disks': 'psx' })
    t.equal((await call('POST', `system/${path}`, { fs_slug: 'my disks', slug: 'ps2' })).status, 200)
    t.same((await show())[key], { 'My Disks': 'psx' }, 'the first stays')
    t.match(await text(), /^# mine\n[^]*^later: 1$/m)
    t.equal((await call('DELETE', `system/${path}/nothing`)).status, 200)
    t.equal((await call('DELETE', `system/${path}/My%20Disks`)).status, 200)
    t.same((await show())[key], {})
    t.match(await text(), /^# mine\n[^]*^later: 1$/m)
    t.equal((await call('POST', `system/${path}`, { fs_slug: '', slug: 'ps2' })).status, 422)
  })
}

t.test('a binding takes effect without a restart', async (t) => {
  const test = await fresh(t)
  const find = () => resolvePlatform('disks', systemConfig.of(test.config)).slug
  t.equal(find(), 'disks')
  await open(test).call('POST', 'system/platforms', { fs_slug: 'disks', slug: 'psx' })
  t.equal(find(), 'psx')
})

t.test('an exclusion takes effect at once; built-in ones are neither written nor removed', async (t) => {
  const test = await fresh(t)
  const { call, show, text } = open(test)
  const add = (type: string, value: string) => call('POST', 'exclude', { exclusion_type: type, exclusion_value: value })
  t.notOk(test.app.library.rules.isExcludedSingle('readme.txt'))
  for (const value of ['.TXT', 'txt', 'db']) t.equal((await add('EXCLUDED_SINGLE_EXT', value)).status, 200)
  t.same(parse(await text()), { exclude: { roms: { single_file: { extensions: ['txt'] } } } })
  t.ok(test.app.library.rules.isExcludedSingle('readme.txt'))
  t.equal((await call('DELETE', 'exclude/EXCLUDED_SINGLE_EXT/db')).status, 200)
  t.ok(((await show()).EXCLUDED_SINGLE_EXT as string[]).includes('db'))
  t.equal((await call('DELETE', 'exclude/EXCLUDED_SINGLE_EXT/.TXT')).status, 200)
  t.notOk(test.app.library.rules.isExcludedSingle('readme.txt'))
  t.match(await add('EXCLUDED_EVERYTHING', 'x'), { status: 422 })
  t.match(await add('EXCLUDED_SINGLE_EXT', '.'), { status: 422 })
})

t.test('an entry is removed by its literal or its decoded name', async (t) => {
  const { call, show } = open(await fresh(t))
  const add = (value: string) => call('POST', 'exclude', { exclusion_type: 'EXCLUDED_MULTI_FILES', exclusion_value: value })
  const isThere = async (value: string) => ((await show()).EXCLUDED_MULTI_FILES as string[]).includes(value)
  for (const [value, sent] of [
    ['a b', 'a%20b'], ['a%20b', 'a%20b'], ['a/b', 'a/b'], ['a/b', 'a%2Fb'], ['disc ?', 'disc%20%3F'], ['disc?.bin', 'disc?.bin'],
    ['[!a]*', '[!a]*'], ['#recycled', '%23recycled'], ['Pokémon', 'Pok%C3%A9mon']
  ] as const) {
    t.equal((await add(value)).status, 200)
    t.ok(await isThere(value), value)
    t.equal((await call('DELETE', `exclude/EXCLUDED_MULTI_FILES/${sent}`)).status, 200)
    t.notOk(await isThere(value), sent)
  }
  await add('a b')
  await add('a%20b')
  await call('DELETE', 'exclude/EXCLUDED_MULTI_FILES/a%20b')
  t.ok(await isThere('a b'), 'the name as it came goes first')
})

t.test('the scan section is replaced, except for unknown keys', async (t) => {
  const { call, show, text, write } = open(await fresh(t))
  await write('scan:\n  workers: 7 # few\n  priority:\n    region_mode: prefer_config\n    cover: [ss]\n    screenshot: [ss]\n')
  const change = {
    ...SCAN,
    metadata_priority: ['ss', 'igdb', 'ss', 'demozoo'],
    cover_priority: null,
    manual_priority: [],
    region_priority: [' EU ', 'us', 'eu', ''],
    media: ['box2d', 'video', 'box2d'],
    gamelist_export: true,
    gamelist_thumbnail: 'miximage',
    something: 'else'
  }
  t.same(await call('PUT', 'scan', change), { status: 200, body: null })
  t.match(await show(), {
    SCAN_METADATA_PRIORITY: ['ss', 'igdb', 'demozoo'],
    SCAN_ARTWORK_PRIORITY: ['sgdb', 'igdb'],
    SCAN_REGION_PRIORITY: ['eu', 'us'],
    SCAN_MEDIA: ['box2d', 'video', 'box2d'],
    GAMELIST_AUTO_EXPORT_ON_SCAN: true,
    GAMELIST_MEDIA_THUMBNAIL: 'miximage'
  })
  t.same((await show()).SCAN_ARTWORK_PRIORITY_OVERRIDES, { url_manual: [] })
  t.match(parse(await text()), { scan: { workers: 7, priority: { region_mode: 'prefer_config' } } })
  t.match(await text(), 'workers: 7 # few')
  for (const wrong of [
    { metadata_priority: ['igdb', 'gamefaqs'] }, { media: ['hologram'] }, { gamelist_image: 'box3d' }, { gamelist_export: 'yes' },
    { region_priority: undefined }
  ]) t.equal((await call('PUT', 'scan', { ...SCAN, ...wrong })).status, 422, JSON.stringify(wrong))
  t.match((await call('PUT', 'scan', { ...SCAN, manual_priority: ['gamefaqs'] })).body,
    { detail: [{ loc: ['body', 'manual_priority', 0], msg: /^'gamefaqs' is not a provider; use some of igdb, / }] })
})

t.test('switching an export on needs the scope to write ROMs', async (t) => {
  const test = await fresh(t)
  const { call, show } = open(test)
  const tokenOf = async (...scopes: string[]) => {
    const reply = await test.app.inject({
      method: 'POST', url: '/api/client-tokens', headers: test.admin, payload: { name: scopes.join(), scopes }
    })
    return { authorization: `Bearer ${reply.json<{ raw_token: string }>().raw_token}` }
  }
  const narrow = await tokenOf('platforms.write')
  for (const part of [{ gamelist_export: true }, { pegasus_export: true }]) {
    t.match(await call('PUT', 'scan', { ...SCAN, ...part }, narrow), { status: 403, body: { detail: /also needs the scope roms\.write/ } })
  }
  t.equal((await call('PUT', 'scan', SCAN, narrow)).status, 200)
  t.equal((await call('PUT', 'scan', { ...SCAN, gamelist_export: true }, await tokenOf('platforms.write', 'roms.write'))).status, 200)
  t.match(await show(), { GAMELIST_AUTO_EXPORT_ON_SCAN: true })
  t.equal((await call('PUT', 'scan', { ...SCAN, gamelist_export: true }, narrow)).status, 200, 'one that is on stays on')
})

t.test('a priority for one kind of picture replaces that of artwork, even if empty', async (t) => {
  const { config } = await fresh(t)
  const providers = new Map(['first', 'second', 'third'].map((key) => [key, { definition: { key } }]))
  const orderOf = (cover?: string[]) => {
    const priority = { ...config.scan.priority, artwork: ['third'], ...(cover === undefined ? {} : { cover }) }
    return readPriorities({ ...config, scan: { ...config.scan, priority } }, providers).cover
  }
  t.same(orderOf(), ['third', 'first', 'second'])
  t.same(orderOf(['second']), ['second', 'first', 'third'])
  t.same(orderOf([]), ['first', 'second', 'third'])
})

t.test('another region order changes groups at once, also in cached lists', async (t) => {
  const test = await fresh(t)
  const { call } = open(test)
  await addRom(test, { fs_name: 'Game (Japan).sfc', matches: { igdb: 1 } })
  await addRom(test, { fs_name: 'Game (USA).sfc', matches: { igdb: 1 } })
  const list = async () => (await test.app.inject({ url: '/api/roms?group_by_meta_id=true', headers: test.admin }))
    .json<{ items: { fs_name: string }[] }>().items.map((item) => item.fs_name)
  t.same(await list(), ['Game (USA).sfc'])
  await call('PUT', 'scan', { ...SCAN, region_priority: ['jp', 'us'] })
  t.same(await list(), ['Game (Japan).sfc'])
})

t.test('a read-only file is not changed, and the error says so', async (t) => {
  const { call, show, text, write, file } = open(await fresh(t))
  await write('exclude: { platforms: [there] }\n')
  await chmod(file, 0o444)
  t.match(await show(), { CONFIG_FILE_MOUNTED: true, CONFIG_FILE_WRITABLE: false })
  const refused = { status: 500, body: { detail: 'Config file is not writable. Check config.yml permissions' } }
  const exclusion = { exclusion_type: 'EXCLUDED_PLATFORMS', exclusion_value: 'new' }
  t.same(await call('POST', 'exclude', exclusion), refused)
  t.same(await call('DELETE', 'exclude/EXCLUDED_PLATFORMS/there'), refused)
  t.same(await call('DELETE', 'system/platforms/x'), refused)
  t.same(await call('POST', 'system/versions', { fs_slug: 'a', slug: 'b' }), refused)
  t.same(await call('PUT', 'scan', SCAN), refused)
  t.equal((await call('POST', 'exclude', { ...exclusion, exclusion_value: 'there' })).status, 200, 'what is there already is no change')
  t.equal(await text(), 'exclude: { platforms: [there] }\n')
})

t.test('an invalid file is reported without its content, and not changed', async (t) => {
  const { call, show, text, write } = open(await fresh(t))
  await write('exclude: { platforms: [before] }\n')
  t.ok(((await show()).EXCLUDED_PLATFORMS as string[]).includes('before'))
  const broken = 'mail: { password: hunter2 }\nexclude: { platforms: [a\n'
  await write(broken)
  const shown = await show()
  t.match(shown.CONFIG_FILE_PARSE_ERROR, /^<data>\/config\.yml is not valid YAML: .* line/)
  t.notMatch(JSON.stringify(shown), 'hunter2')
  t.ok((shown.EXCLUDED_PLATFORMS as string[]).includes('before'), 'what was set before applies')
  t.equal((await show({})).CONFIG_FILE_PARSE_ERROR, null)
  t.match(await call('PUT', 'scan', SCAN), { status: 409, body: { detail: /^config\.yml cannot be changed here: .* Edit the file itself$/ } })
  t.equal(await text(), broken)
})

t.test('concurrent writes lose nothing, and leave no other files', async (t) => {
  const test = await fresh(t)
  const { call, show } = open(test)
  const names = Array.from({ length: 12 }, (_none, index) => `folder-${index}`)
  const replies = await Promise.all(names.map((name) =>
    call('POST', 'exclude', { exclusion_type: 'EXCLUDED_PLATFORMS', exclusion_value: name })))
  t.same(new Set(replies.map(({ status }) => status)), new Set([200]))
  const shown = (await show()).EXCLUDED_PLATFORMS as string[]
  t.same(names.filter((name) => !shown.includes(name)), [])
  t.same(await readdir(test.config.data_dir), ['config.yml'])
})

t.test('a link to the file stays a link, and the file keeps its permissions', async (t) => {
  const test = await fresh(t)
  const { call, file } = open(test)
  const real = join(test.libraryDir, 'mine.yml')
  await writeFile(real, '# mine\n', { mode: 0o640 })
  await rm(file, { force: true })
  await symlink(real, file)
  t.equal((await call('PUT', 'scan', SCAN)).status, 200)
  t.match(await readFile(real, 'utf8'), /^# mine\n[^]*region: *\n? *- us/)
})

t.test('only those who may write platforms change settings', async (t) => {
  const test = await fresh(t)
  const { call } = open(test)
  t.equal((await call('PUT', 'scan', SCAN, await test.createUser('alice'))).status, 403)
})

t.test('only a signed-in administrator changes settings of a plugin', async (t) => {
  const test = await fresh(t)
  const { call } = openPlugin(test, 'provider/hasheous')
  const { raw_token: token } = (await test.app.inject({
    method: 'POST', url: '/api/client-tokens', headers: test.admin, payload: { name: 'all', scopes: ['tasks.run', 'users.write'] }
  })).json<{ raw_token: string }>()
  t.equal((await call('PUT', { enabled: true }, { authorization: `Bearer ${token}` })).status, 403)
  t.equal((await call('GET', undefined, await test.createUser('player'))).status, 403)
  t.equal((await call('PUT', { enabled: true }, {})).status, 401)
})

t.test('an unknown plugin, setting or wrong value is refused by name', async (t) => {
  const test = await fresh(t)
  const { call } = openPlugin(test, 'provider/steam')
  t.equal((await openPlugin(test, 'provider/nothing').call('GET')).status, 404)
  t.equal((await openPlugin(test, 'channel/steam').call('PUT', {})).status, 404)
  t.match(await call('PUT', { cuontry: 'de' }), { status: 422, body: { detail: [{ loc: ['body', 'cuontry'], msg: /the settings are country, enabled/ }] } })
  t.match(await call('PUT', JSON.parse('{ "__proto__": { "enabled": true } }') as object), { status: 422 })
  t.match(await call('PUT', { country: 'Germany' }), { status: 422, body: { detail: [{ loc: ['body', 'country'], msg: /"Germany" is not/ }] } })
  t.match(await openPlugin(test, 'provider/launchbox').call('PUT', { installation: '/etc' }),
    { status: 422, body: { detail: [{ msg: /fixed by LAUNCHBOX_FOLDER/ }] } }, 'only the operator opens folders')
  t.match(await openPlugin(test, 'provider/igdb').call('PUT', { clientId: 'a' }),
    { status: 422, body: { detail: [{ loc: ['body', 'clientSecret'], msg: "'clientSecret' is required" }] } })
})

t.test('two changes at once of one plugin are both checked against the state before them', async (t) => {
  const test = await fresh(t)
  const { call } = openPlugin(test, 'provider/igdb')
  const [one, two] = await Promise.all(['a', 'b'].map((clientId) => call('PUT', { clientId, clientSecret: `secret of ${clientId}` })))
  t.same([one?.status, two?.status], [200, 200])
  const { body: { values } } = await call('GET')
  const other = (values as { clientId: string }).clientId === 'a' ? 'b' : 'a'
  t.equal((await call('PUT', { clientId: other })).status, 422, 'the secret of the other account stays away')
})
