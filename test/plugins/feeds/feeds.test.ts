import { readFile, writeFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { type TestApp, buildTestApp, shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { type RomSeed, addRom } from '../roms/support.ts'
import { HOST, get } from './feeds-support.ts'

const fresh = shareTestApp(t)
const AWKWARD = 'Café "Harbor",\tfirst\nline \u6e2f'

interface FileSeed {
  name: string
  category?: string
  size?: number
  sha1?: string
  top?: boolean
}

/** Adds a ROM in a folder with these files. Ids count from 1 in a fresh database. */
async function addFolder (test: TestApp, platform: string, seed: Omit<RomSeed, 'platform' | 'files'>, files: FileSeed[]) {
  const id = await addRom(test, { ...seed, platform, files: [] })
  for (const { name, category = null, size = 1, sha1 = '', top = true } of files) {
    await test.app.pg.query(`insert into rom_files
      (rom_id, file_name, file_path, file_size_bytes, last_modified, category, sha1_hash, is_top_level, updated_at)
      values ($1, $2, $3, $4, now(), $5, $6, $7, '2026-03-04T05:06:07.890Z')`,
    [id, name, `roms/${platform}/${seed.fs_name}`, size, category, sha1, top])
  }
  return id
}

const NAMES = [
  { name: `${AWKWARD} [NPUB-30001] (USA).pkg`, size: 4_294_967_296, sha1: 'aa' },
  { name: 'Side quest, "extra".PKG', category: 'dlc', top: false, size: 7 },
  { name: 'unlock.rap', sha1: 'cc' },
  { name: 'whole.zip', size: 5 },
  { name: '(igdb-12345) patch\t1.pkg', category: 'update', top: false, sha1: 'dd' },
  { name: 'readme.txt' }
]

/** Adds a platform of a console with a ROM of an awkward name, a plain one, and one that is missing on disk. */
async function addConsole (test: TestApp, platform: string): Promise<void> {
  const fields = { name: AWKWARD, revision: '2' }
  await addFolder(test, platform, { fs_name: `${AWKWARD} (Europe, Japan) (Rev 2)`, fields }, NAMES)
  await addFolder(test, platform, { fs_name: 'Zebra' }, [{ name: 'Zebra.pkg', size: 3 }])
  await addFolder(test, platform, { fs_name: 'Gone', fields: { missing_from_fs: true } }, [{ name: 'Gone.pkg' }])
}

/** Compares with a golden file, which a person checked once. With `FEEDS=write` in the environment it is rewritten. */
async function matchesGolden (t: Pick<Test, 'equal'>, name: string, text: string) {
  const file = new URL(`../fixtures/feeds/${name}`, import.meta.url)
  if (process.env.FEEDS === 'write') await writeFile(file, text)
  t.equal(text, await readFile(file, 'utf8'), name)
}

t.test('lines for PKGi match the format of its readers, whatever the file names', async (t) => {
  const test = await fresh(t)
  for (const platform of ['ps3', 'psvita', 'psp']) await addConsole(test, platform)
  for (const [path, name] of [['ps3/game', 'pkgi_game'], ['ps3/dlc', 'pkgi_dlc'], ['psp/update', 'pkgi_update'],
    ['psvita/game', 'pkgi_game'], ['psvita/dlc', 'pkgi_dlc'], ['ps3/demo', 'pkgi_demo'], ['psvita/cheat', 'pkgi_cheat']] as const) {
    const reply = await get(test, `/api/feeds/pkgi/${path}`)
    t.equal(reply.statusCode, 200, path)
    t.match(reply.headers, {
      'content-type': 'text/plain; charset=utf-8', 'content-disposition': `filename=${name}.txt`, 'cache-control': 'no-cache'
    })
    await matchesGolden(t, `pkgi-${path.replace('/', '-')}.txt`, reply.body)
  }
})

t.test('lines for PKGj have every column; a tab or line break in a name is a space', async (t) => {
  const test = await fresh(t)
  for (const platform of ['psp', 'psvita', 'psx']) await addConsole(test, platform)
  for (const path of ['psp/games', 'psp/dlc', 'psvita/games', 'psvita/dlc', 'psx/games']) {
    const name = path.replace('/', '_')
    const reply = await get(test, `/api/feeds/pkgj/${path}`)
    t.match(reply.headers, { 'content-disposition': `filename=pkgj_${name}.txt` })
    const columns = reply.body.split('\n').map((line) => line.split('\t').length)
    t.equal(new Set(columns).size, 1, `${path}: ${columns.join(' ')}`)
    await matchesGolden(t, `pkgj-${name}.txt`, reply.body)
  }
})

t.test('a feed without entries contains only its header, or is empty', async (t) => {
  const test = await fresh(t)
  for (const platform of ['psp', 'ps4', 'snes']) await test.app.platforms.ensure(test.app.db, platform)
  t.equal((await get(test, '/api/feeds/pkgi/psp/game')).body, '')
  t.equal((await get(test, '/api/feeds/pkgj/psp/dlc')).body, ['Title ID', 'Region', 'Name', 'PKG direct link', 'Content ID',
    'Last Modification Date', 'RAP', 'Download .RAP file', 'File Size', 'SHA256'].join('\t'))
  t.equal((await get(test, '/api/feeds/kekatsu/snes')).body, '1\n\t')
  t.same((await get(test, '/api/feeds/fpkgi/ps4')).json(), { DATA: {} })
  t.same((await get(test, '/api/feeds/webrcade')).json(), {
    title: 'svc', longTitle: 'svc', description: 'The games of this server',
    categories: [{ title: 'Super Nintendo Entertainment System', longTitle: 'Super Nintendo Entertainment System Games', items: [] }]
  })
})

t.test('Kekatsu gets each ROM, also those of folders that are bound to one slug', async (t) => {
  const test = await fresh(t)
  await addRom(test, {
    fs_name: `${AWKWARD} (Europe, Japan).nds`,
    platform: 'nds',
    fields: { name: AWKWARD, fs_size_bytes: 9, path_cover_small: 'roms/1/1/cover/small.png', revision: 'B' }
  })
  await addFolder(test, 'nds', { fs_name: 'Two discs', fields: { fs_size_bytes: 4 } }, [{ name: 'a.nds' }, { name: 'b.nds' }])
  await addFolder(test, 'nds', { fs_name: 'Only one', fields: { fs_size_bytes: 2 } }, [{ name: 'one (Europe).nds' }])
  await addRom(test, { fs_name: 'Third.nds', platform: 'nds-hacks', fields: { name: null } })
  await test.app.pg.query("update platforms set slug = 'nds' where fs_slug = 'nds-hacks'")
  const reply = await get(test, '/api/feeds/kekatsu/nds')
  t.match(reply.headers, { 'content-disposition': 'filename=kekatsu_nds.txt', 'content-type': 'text/plain; charset=utf-8' })
  await matchesGolden(t, 'kekatsu-nds.txt', reply.body)
})

t.test('a platform of any name has its feed for Kekatsu', async (t) => {
  const test = await fresh(t)
  await addRom(test, { fs_name: 'a.bin', platform: 'Игры, "мои"' })
  const reply = await get(test, `/api/feeds/kekatsu/${encodeURIComponent('Игры, "мои"')}`)
  t.equal(reply.statusCode, 200)
  t.match(reply.headers['content-disposition'], /^filename=[\w.]+$/)
  t.match(reply.body, /\tИгры, "мои"\t/)
})

t.test('FPKGi gets a unique name for each package, whatever the feed skips', async (t) => {
  const test = await fresh(t)
  await addFolder(test, 'ps4', {
    fs_name: `${AWKWARD} (cusa00001)`,
    fields: {
      name: AWKWARD, first_release_date: Date.UTC(2016, 8, 5), path_cover_large: 'roms/1/1/cover/large.png', revision: '1.02'
    }
  }, [
    { name: 'base.pkg', size: 10 }, { name: 'season.pkg', category: 'dlc' }, { name: 'costume.pkg', category: 'dlc' },
    { name: 'costume.pkg ', category: 'dlc' }, { name: 'fix.PKG', category: 'update' }, { name: 'trainer.pkg', category: 'cheat' }
  ])
  await addFolder(test, 'ps4', { fs_name: 'Same names', fields: { name: 'Twins' } },
    [{ name: 'a.pkg', category: 'dlc' }, { name: 'A.pkg', category: 'dlc' }])
  await test.app.pg.query("update rom_files set file_name = 'a.pkg', file_path = 'roms/ps4/Same names/dlc' where file_name = 'A.pkg'")
  await addFolder(test, 'ps4', { fs_name: 'Plain', fields: { name: null } }, [{ name: 'ppsa12345-x.pkg' }])
  await addFolder(test, 'ps4', { fs_name: 'Without an id', fields: { name: 'Without' } }, [{ name: 'w.pkg' }])
  const all = await get(test, '/api/feeds/fpkgi/ps4')
  t.match(all.headers, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' })
  await matchesGolden(t, 'fpkgi-ps4.json', all.body)
  const { DATA: whole } = all.json<{ DATA: Record<string, { name: string }> }>()
  t.equal(new Set(Object.values(whole).map(({ name }) => name)).size, Object.keys(whole).length)
  const { DATA: dlc } = (await get(test, '/api/feeds/fpkgi/ps4?content_type=dlc')).json<{ DATA: Record<string, { name: string }> }>()
  t.equal(Object.keys(dlc).length, 4)
  for (const [url, item] of Object.entries(dlc)) t.same(item, whole[url])
})

t.test('webЯcade gets a category for each platform that it plays, in the listed order', async (t) => {
  const test = await fresh(t)
  await addRom(test, {
    fs_name: `${AWKWARD}.sfc`,
    fields: {
      name: AWKWARD, summary: 'A "port"\n\u2028in the storm', path_cover_small: 'roms/1/1/cover/small.png',
      path_cover_large: 'roms/1/1/cover/large.png'
    }
  })
  await addRom(test, { fs_name: 'Plain (USA).lnx', platform: 'lynx', fields: { name: null } })
  await addRom(test, { fs_name: 'Not played.iso', platform: 'ps3' })
  await test.app.platforms.ensure(test.app.db, 'atari2600')
  const reply = await get(test, '/api/feeds/webrcade')
  t.match(reply.headers, { 'content-type': 'application/json; charset=utf-8' })
  JSON.parse(reply.body)
  await matchesGolden(t, 'webrcade.json', reply.body)
})

interface Webrcade { categories: { title: string, items: unknown[] }[] }

t.test('webЯcade gets one platform by its slug, as in the whole feed', async (t) => {
  const test = await fresh(t)
  await addRom(test, { fs_name: 'Harbor.sfc' })
  await addRom(test, { fs_name: 'Plain (USA).lnx', platform: 'lynx' })
  await addRom(test, { fs_name: 'Not played.iso', platform: 'ps3' })
  const { categories } = (await get(test, '/api/feeds/webrcade')).json<Webrcade>()
  t.equal(categories.length, 2)
  const lynx = (await get(test, '/api/feeds/webrcade/lynx')).json<Webrcade>()
  t.same(lynx.categories, categories.filter(({ title }) => title === lynx.categories[0]?.title))
  t.equal(lynx.categories[0]?.items.length, 1)
  t.same((await get(test, '/api/feeds/webrcade/ps3')).json<Webrcade>().categories, [], 'webЯcade does not play it')
  t.equal((await get(test, '/api/feeds/webrcade/nes')).statusCode, 404)
})

t.test('a feed is compressed for programs that accept gzip', async (t) => {
  const test = await fresh(t)
  await addConsole(test, 'ps3')
  for (const feed of ['pkgi/ps3/game', 'fpkgi/ps3']) {
    const plain = await get(test, `/api/feeds/${feed}`)
    t.equal(plain.headers['content-encoding'], undefined)
    t.match(plain.headers.vary, /Accept-Encoding/)
    const reply = await get(test, `/api/feeds/${feed}`, { ...test.admin, 'accept-encoding': 'gzip' })
    t.equal(reply.headers['content-encoding'], 'gzip')
    t.equal(gunzipSync(reply.rawPayload).toString(), plain.body)
  }
})

t.test('Tinfoil gets the installable files, or an error if the platform does not exist', async (t) => {
  const test = await fresh(t)
  t.same((await get(test, '/api/feeds/tinfoil')).json(), {
    files: [], directories: [], error: 'Nintendo Switch platform not found'
  })
  await addRom(test, { fs_name: `${AWKWARD} [0100A00000000001].NSP`, platform: 'switch' })
  await addFolder(test, 'switch', { fs_name: 'Folder' }, [{ name: 'a.xci', size: 6 }, { name: 'b.nsz' }, { name: 'c.txt' }])
  const reply = await get(test, '/api/feeds/tinfoil')
  JSON.parse(reply.body)
  await matchesGolden(t, 'tinfoil-switch.json', reply.body)
  t.match((await get(test, '/api/feeds/tinfoil?slug=ps3')).json(), { error: 'Nintendo Switch platform not found' })
})

t.test('an unknown platform is refused before an unknown content type', async (t) => {
  const test = await fresh(t)
  const TEXTS = {
    'pkgi/ps3/nothing': 'PlayStation 3 platform not found',
    'pkgi/psvita/game': 'PlayStation Vita platform not found',
    'pkgi/psp/game': 'PlayStation Portable platform not found',
    'pkgj/psp/games': 'PlayStation Portable platform not found',
    'pkgj/psp/dlc': 'PlayStation Portable platform not found',
    'pkgj/psvita/games': 'PlayStation Vita platform not found',
    'pkgj/psvita/dlc': 'PlayStation Vita platform not found',
    'pkgj/psx/games': 'PlayStation platform not found',
    'fpkgi/ps4?content_type=nothing': 'Platform ps4 not found',
    'kekatsu/nds': 'Platform nds not found'
  }
  for (const [path, detail] of Object.entries(TEXTS)) {
    const reply = await get(test, `/api/feeds/${path}`)
    t.equal(reply.statusCode, 404, path)
    t.same(reply.json(), { detail }, path)
  }
  for (const platform of ['ps3', 'psp', 'psvita', 'ps4']) await test.app.platforms.ensure(test.app.db, platform)
  for (const path of ['pkgi/ps3/hack', 'pkgi/psp/GAME', 'pkgi/psvita/nothing', 'fpkgi/ps4?content_type=nothing']) {
    const reply = await get(test, `/api/feeds/${path}`)
    t.equal(reply.statusCode, 400, path)
    t.match(reply.json(), { detail: /^Invalid content type: / }, path)
  }
})

const FEEDS = ['webrcade', 'webrcade/snes', 'tinfoil', 'pkgi/ps3/game', 'pkgi/psvita/game', 'pkgi/psp/game', 'fpkgi/ps4',
  'kekatsu/snes', 'pkgj/psp/games', 'pkgj/psp/dlc', 'pkgj/psvita/games', 'pkgj/psvita/dlc', 'pkgj/psx/games']

t.test('V9, feeds: no feed has ROMs hidden by administrators or age, marked ones stay', async (t) => {
  const test = await fresh(t)
  const alice = await test.createUser('alice')
  const { app } = test
  const ids: Record<string, number[]> = {}
  for (const platform of ['snes', 'switch', 'ps3', 'psvita', 'psp', 'ps4', 'psx']) {
    const add = (name: string, minAge: number) => addFolder(test, platform,
      { fs_name: name, fields: { name, min_age: minAge } },
      [{ name: `${name}.pkg` }, { name: `${name}.nsp` }, { name: `${name} extra.pkg`, category: 'dlc', top: false }])
    ids[platform] = [await add('Veiled', 3), await add('Grown', 18), await add('Marked', 3)]
  }
  const { rows: [user] } = await app.pg.query<{ id: number }>("select id from users where username = 'alice'")
  await app.pg.query('update users set age_limit = 12 where id = $1', [user?.id])
  for (const [veiled, , marked] of Object.values(ids)) {
    await app.pg.query("insert into hidden_entities (entity, entity_id, user_id) values ('roms', $1, $2)", [veiled, user?.id])
    await app.inject({ method: 'PUT', url: `/api/roms/${marked}/props`, headers: alice, payload: { hidden: true } })
  }
  for (const feed of FEEDS) {
    const seen = (await get(test, `/api/feeds/${feed}`)).body
    t.match(seen, /Veiled/, `${feed} has it for others`)
    const { body } = await get(test, `/api/feeds/${feed}`, alice)
    t.notMatch(body, /Veiled|Grown/, feed)
    t.match(body, /Marked/, feed)
  }
  await app.pg.query(`insert into hidden_entities (entity, entity_id, user_id)
    select 'platforms', id, $1 from platforms`, [user?.id])
  for (const feed of FEEDS) {
    const { body } = await get(test, `/api/feeds/${feed}`, alice)
    t.match(body, feed === 'webrcade' ? /"categories":\[\]/ : /not found/, feed)
  }
})

t.test('a HEAD request for a feed returns only headers', async (t) => {
  const test = await fresh(t)
  await addConsole(test, 'ps3')
  const reply = await test.app.inject({ method: 'HEAD', url: '/api/feeds/pkgi/ps3/game', headers: test.admin })
  t.equal(reply.statusCode, 200)
  t.equal(reply.headers['content-disposition'], 'filename=pkgi_game.txt')
  t.equal(reply.body, '')
})

/** Returns the only address of a ROM in a feed. */
const linkIn = (body: string) => /http:\/\/[^\s",]+\/api\/roms\/[^\s",]+/.exec(body)?.[0] ?? ''
const pathOf = (url: string) => url.replace(/^http:\/\/[^/]+/, '')

t.test("links in a feed work with the credential of the feed's request", async (t) => {
  const name = 'Café "Harbor", \u6e2f [NPUB-30001].pkg'
  const test = await fresh(t, { library: { roms: { ps3: { [name]: 'bytes of the package' } } } })
  await addRom(test, { fs_name: name, platform: 'ps3' })
  const { app, admin } = test
  const token = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: admin, payload: { name: 'PS3', scopes: ['roms.read'] }
  })).json<{ raw_token: string }>().raw_token
  for (const [feed, headers] of [
    ['/api/feeds/pkgi/ps3/game', admin], ['/api/feeds/kekatsu/ps3', { authorization: `Bearer ${token}` }],
    [`/api/feeds/pkgi/ps3/game?token=${token}`, {}], [`/api/feeds/kekatsu/ps3?token=${token}`, {}]
  ] as const) {
    const listed = await get(test, feed, headers)
    t.equal(listed.statusCode, 200, feed)
    const link = linkIn(listed.body)
    t.ok(link.startsWith(`http://${HOST}/api/roms/1/`), link)
    const content = await app.inject({ url: pathOf(link), headers })
    t.equal(content.body, 'bytes of the package', feed)
  }
})

t.test('a token in the address opens only downloads and feeds', async (t) => {
  const test = await fresh(t)
  await addConsole(test, 'ps3')
  const { app, admin } = test
  const { id, raw_token: token } = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: admin, payload: { name: 'PS3', scopes: ['roms.read', 'me.read'] }
  })).json<{ id: number, raw_token: string }>()
  const status = async (url: string) => (await app.inject({ url })).statusCode
  t.equal(await status(`/api/feeds/pkgi/ps3/game?token=${token}`), 200)
  t.equal(await status(`/api/roms/1?token=${token}`), 200)
  for (const path of ['/api/roms', '/api/users/me', '/api/platforms', '/api/roms/download']) {
    t.equal(await status(`${path}?token=${token}`), 401, path)
  }
  t.equal(await status('/api/feeds/pkgi/ps3/game?token=wrong'), 401)
  t.equal(await status(`/api/feeds/pkgi/ps3/game?token=${token}&token=${token}`), 401)
  await app.inject({ method: 'DELETE', url: `/api/client-tokens/${id}`, headers: admin })
  await until(async () => await status(`/api/feeds/pkgi/ps3/game?token=${token}`) === 401, 'the token ends')
})

t.test('a program that sends no password unasked gets a challenge', async (t) => {
  const { app } = await fresh(t)
  const reply = await app.inject('/api/feeds/tinfoil')
  t.equal(reply.statusCode, 401)
  t.match(reply.headers['www-authenticate'], /^Bearer, Basic realm="svc"/)
})

t.test("links use the base URL's path, and its protocol if the host matches", async (t) => {
  const test = await buildTestApp(t, {
    env: { SVC_BASE_URL: 'https://home.example/games', DISABLE_DOWNLOAD_ENDPOINT_AUTH: 'true', TINFOIL_WELCOME_MESSAGE: 'Ahoy' }
  })
  await addRom(test, { fs_name: 'a.nsp', platform: 'switch' })
  const first = async (url: string, host: string) =>
    (await test.app.inject({ url, headers: { host } })).json<{ success: string, files: { url: string }[] }>()
  t.equal((await first('/games/api/feeds/tinfoil', 'home.example')).files[0]?.url,
    'https://home.example/games/api/roms/1/files/content/a.nsp')
  t.match(await first('/api/feeds/tinfoil', '192.168.1.5:8080'), {
    success: 'Ahoy', files: [{ url: 'http://192.168.1.5:8080/games/api/roms/1/files/content/a.nsp' }]
  })
})

t.test('with open downloads, a feed contains what the default group sees', async (t) => {
  const test = await buildTestApp(t, { env: { DISABLE_DOWNLOAD_ENDPOINT_AUTH: 'true' } })
  const [seen, hidden] = [await addRom(test, { fs_name: 'Seen.sfc' }), await addRom(test, { fs_name: 'Veiled.sfc' })]
  await test.app.pg.query(`insert into hidden_entities (entity, entity_id, group_id)
    select 'roms', $1, id from permission_groups where is_default`, [hidden])
  const { body } = await test.app.inject('/api/feeds/kekatsu/snes')
  t.match(body, `/api/roms/${seen}/content/Seen.sfc`)
  t.notMatch(body, 'Veiled')
})
