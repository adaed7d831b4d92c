import sharp from 'sharp'
import t from 'tap'
import { redirectedPackage, startSource } from './redirected-support.ts'
import { buildScanTest } from './support.ts'

const USER = 'member-one'
const SECRETS = ['member-secret', 'dev-secret', USER, 'dev-one']
const plain = (background: string) =>
  sharp({ create: { width: 60, height: 80, channels: 3, background } }).png().toBuffer()
const media = (script: string) => `https://neoclone.screenscraper.fr/api2/${script}.php`
/** The credentials, all of which the service requires. */
const pass = { devid: 'dev-one', devpassword: 'dev-secret', ssid: USER, sspassword: 'member-secret' }
const FILM = Buffer.from('\0\0\0\x18ftypmp42film')
const png = { 'content-type': 'image/png' }
const server = await startSource(t, 'ss', [
  { url: media('mediaJeu'), query: { ...pass, media: 'fanart' }, bytes: await plain('#00ff00'), headers: png },
  { url: media('mediaJeu'), query: { ...pass, media: 'box-3D(us)' }, text: 'NOMEDIA' },
  { url: media('mediaJeu'), query: pass, bytes: await plain('#336699'), headers: png },
  { url: media('mediaManuelJeu'), query: pass, text: '%PDF-1.4', headers: { 'content-type': 'application/pdf' } },
  { url: media('mediaVideoJeu'), query: pass, bytes: FILM, headers: { 'content-type': 'video/mp4' } }
])
const KINDS = ['bezel', 'box2d', 'box2d_back', 'box2d_side', 'box3d', 'miximage', 'miximage_v2', 'physical', 'screenshot',
  'title_screen', 'marquee', 'logo', 'fanart', 'video', 'video_normalized', 'manual']
const lines: object[] = []
const { app, admin, put, scan, rom, sql, problems } = await buildScanTest(t, {
  providers: [],
  packages: [redirectedPackage(t, 'ss')],
  env: { SVC_LOG_LEVEL: 'debug' },
  log: (line) => { lines.push(line) },
  config: {
    filesystem: { skip_hash_calculation: true },
    scan: { media: KINDS },
    plugins: {
      ss: { user: USER, password: 'member-secret', devId: 'dev-one', devPassword: 'dev-secret', test_url: server.url }
    }
  }
})

await put({ 'roms/genesis/Tide Runner (USA) (ssfr-3).md': 'one', 'roms/genesis/Tide Runner (Europe).md': 'two' })
const task = await scan({ platform_fs_slugs: ['genesis'] })

/** Returns the whole database as text. */
async function dump (): Promise<string> {
  const tables = await sql<{ name: string }>("select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'")
  const rows = await Promise.all(tables.map(({ name }) => sql(`select to_jsonb(t)::text as row from ${name} t`)))
  return JSON.stringify(rows)
}

t.test('a game is found by its tag or its name, and its artwork is stored', async (t) => {
  const { id, name } = await rom('genesis', 'Tide Runner (USA) (ssfr-3).md')
  t.equal(name, 'Tide Runner: Low Water')
  const detail = (await app.inject({ url: `/api/roms/${id}`, headers: admin })).json<Record<string, unknown>>()
  t.match(detail, {
    ss_id: 3,
    summary: /^Run with the tide/,
    metadatum: { genres: ['Platform'], player_count: '1-2', average_rating: 85, age_ratings: ['3', '7', 'KA'] },
    ss_metadata: { ss_score: '8.5', box2d_url: /^https:\/\/neoclone\.screenscraper\.fr/ },
    has_manual: true
  })
  const stored = detail.ss_metadata as Record<string, string | undefined>
  const paths = Object.keys(stored).filter((key) => key.endsWith('_path'))
  t.same(paths.sort(), ['bezel', 'box2d', 'box2d_back', 'box2d_side', 'logo', 'marquee', 'miximage', 'miximage_v2', 'physical',
    'title_screen', 'video', 'video_normalized'].map((kind) => `${kind}_path`).sort())
  t.equal(stored.fanart_path, undefined, 'a green square is not kept')
  t.match(problems(task), [/: 1 artwork file of 'genesis' could not be fetched/], 'nor is a text in place of a picture')
  t.equal((await app.inject({ url: `/assets/romm/resources/${stored.logo_path ?? ''}`, headers: admin })).statusCode, 200)
  t.match(await rom('genesis', 'Tide Runner (Europe).md'), { ids: { ss: '20' }, name: 'Tide Runner' })
})

t.test('artwork is requested with the account, at its rate limit', async (t) => {
  t.ok(server.requests.some((request) => request.includes('/mediaJeu.php') && request.includes('sspassword=member-secret')))
  const [limits] = await sql("select limits, allowances -> 'day' ->> 'remaining' as left from plugin_limits where plugin = 'provider/ss'")
  t.match(limits, { limits: { concurrency: 2, rates: [{ requests: 3072, perMs: 60_000 }] } })
})

t.test('credentials are not stored, logged or shown', async (t) => {
  const urls = ['/api/roms', '/api/plugins', '/api/heartbeat', '/api/platforms', '/api/tasks', `/api/tasks/${task.task_id}`]
  const answers = await Promise.all(urls.map(async (url) => (await app.inject({ url, headers: admin })).body))
  const places = { database: await dump(), log: JSON.stringify(lines), answers: answers.join('\n') }
  for (const [place, text] of Object.entries(places)) {
    for (const secret of SECRETS) t.notOk(text.includes(secret), `${place} has no '${secret}'`)
  }
  t.match(places.database, /screenscraper\.fr/, 'it is the right database')
  t.match(places.log, /jeuInfos\.php\?devid=\*\*\*/, 'the log has the requests')
})
