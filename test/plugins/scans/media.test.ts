import { access, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CredentialsRefusedError } from '@svc/plugin-sdk'
import sharp from 'sharp'
import t from 'tap'
import { startServer } from '../../core/http/server.ts'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { resetVault, vault } from '../fixtures/vault.ts'
import { buildScanTest } from './support.ts'

const KEY = 'open sesame'
const plain = (background: string) => sharp({ create: { width: 60, height: 80, channels: 3, background } })
const BLUE = await plain('#336699').png().toBuffer()
const GREEN = await plain('#00ff00').jpeg().toBuffer()
const GREY = await plain('#808080').greyscale().png().toBuffer()

const server = await startServer(t, (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://vault')
  if (searchParams.get('key') !== KEY || request.headers['x-member'] !== 'svc') return response.writeHead(403).end()
  const content = pathname.endsWith('green.jpg') ? GREEN : pathname.endsWith('grey.png') ? GREY : BLUE
  if (pathname.endsWith('gone.png')) return response.writeHead(404).end()
  response.writeHead(200, { 'content-type': `Image/${content === GREEN ? 'JPEG' : 'PNG'}; q=1` }).end(content)
})
const install = await mkdtemp(join(tmpdir(), 'svc-install-'))
t.teardown(() => rm(install, { recursive: true, force: true }))

const { put, scan, rom, problems, dataDir, sql, app, admin } = await buildScanTest(t, {
  providers: ['alpha', 'vault'],
  config: {
    filesystem: { skip_hash_calculation: true },
    plugins: { vault: { base_url: server.url, key: KEY, install } }
  }
})
let count = 0

t.beforeEach(() => {
  resetScripts()
  resetVault()
  server.requests.length = 0
})

const exists = (path: string | null) => access(join(dataDir, 'resources', path ?? 'nowhere')).then(() => true, () => false)

async function scanOne (url: string, files = ['Game.bin']) {
  const folder = `shelf ${count++}`
  await put(Object.fromEntries(files.map((name) => [`roms/${folder}/${name}`, name])))
  vault.identify = () => ({ id: 1, media: [{ kind: 'cover', url }] })
  const task = await scan({ platform_fs_slugs: [folder] })
  return { task, stored: await rom(folder, 'Game.bin') }
}

t.test('the secrets a provider adds to media requests are not stored, shown or logged', async (t) => {
  const { stored } = await scanOne(`${server.url}/blue.png`)
  t.ok(await exists(stored.path_cover_large))
  t.equal(stored.url_cover, `${server.url}/blue.png`)
  t.same(server.requests, [`GET /blue.png?key=${encodeURIComponent(KEY).replace('+', '%20')}`])

  const { task, stored: lost } = await scanOne(`${server.url}/gone.png`)
  t.equal(lost.path_cover_large, null)
  t.match(problems(task).join(), /gone\.png/)
  t.notMatch(JSON.stringify(task), /sesame/)
  t.notMatch(JSON.stringify(await sql('select * from roms')) + JSON.stringify(await sql('select * from rom_matches')), /sesame/)
  const list = await app.inject({ url: '/api/roms', headers: admin })
  t.notMatch(list.body, /sesame/)
})

t.test('a match with a secret of the provider in its addresses is refused', async (t) => {
  const { task, stored } = await scanOne(`${server.url}/blue.png?k=${encodeURIComponent(KEY)}`)
  t.equal(stored.url_cover, null)
  t.match(problems(task).join(), /'vault' returned the address of a picture that contains a secret .* add it in media\.fetch/)
  t.same(server.requests, [])
})

t.test("a provider's secrets are not sent to the media of another provider", async (t) => {
  scriptOf('alpha').identify = () => ({ id: 7, media: [{ kind: 'screenshot', url: `${server.url}/other.png` }] })
  await scanOne(`${server.url}/blue.png`)
  t.match(server.requests.toSorted(), [/^GET \/blue\.png\?key=/, /^GET \/other\.png$/])
})

t.test('a provider sees type, size, hash and pixels of a file', async (t) => {
  await scanOne(`${server.url}/green.jpg`)
  await scanOne(`${server.url}/grey.png`)
  const [green, grey] = vault.accepted
  t.match(green, { content_type: 'image/jpeg', size: GREEN.length, sha1_hash: /^[0-9a-f]{40}$/ })
  t.equal(green?.pixels?.length, 32 * 32 * 3)
  const [red = 255, high = 0, blue = 255] = green?.pixels ?? []
  t.ok(red < 8 && high > 247 && blue < 8, `${red} ${high} ${blue} is green`)
  t.equal(grey?.pixels?.length, 32 * 32 * 3, 'also of a picture without colours')
})

t.test('a placeholder is not stored, is no problem, and is requested once per scan', async (t) => {
  vault.accepts = ({ pixels = new Uint8Array() }) => (pixels[1] ?? 0) < 200
  const names = ['Game.bin', ...Array.from({ length: 30 }, (_, index) => `Game ${index}.bin`)]
  const { task, stored } = await scanOne(`${server.url}/green.jpg`, names)
  t.equal(stored.path_cover_large, null)
  t.same(problems(task), [])
  // Concurrent lookups requested the picture before its first response arrived.
  t.ok(server.requests.length <= 8, `${server.requests.length} requests for 31 ROMs`)
  await scanOne(`${server.url}/green.jpg`)
  t.ok(server.requests.length <= 9, 'the next scan asks again')
})

t.test('media in a configured folder are copied; media outside of it are not', async (t) => {
  const outside = await mkdtemp(join(tmpdir(), 'svc-outside-'))
  t.teardown(() => rm(outside, { recursive: true, force: true }))
  await writeFile(join(outside, 'secret.png'), BLUE)
  await mkdir(join(install, 'Images', 'SNES'), { recursive: true })
  await writeFile(join(install, 'Images', 'SNES', 'Game #1 100%.png'), BLUE)
  await symlink(join(outside, 'secret.png'), join(install, 'Images', 'link.png'))
  await symlink(outside, join(install, 'Images', 'folder'))
  const { stored } = await scanOne('folder://install/Images/SNES/Game #1 100%.png')
  t.ok(await exists(stored.path_cover_large))
  t.equal(stored.url_cover, 'folder://install/Images/SNES/Game #1 100%.png')
  t.same(server.requests, [])
  for (const path of ['install/Images/link.png', 'install/Images/folder/secret.png', 'install/../x.png', 'other/a.png', 'base_url/a.png']) {
    const { task, stored } = await scanOne(`folder://${path}`)
    t.equal(stored.path_cover_large, null, path)
    t.equal(problems(task).length, 1, path)
  }
})

t.test('a provider with a spent allowance gets no media requests until it resumes', async (t) => {
  const day = { name: 'day', resetsAt: Date.now() + 3_600_000 }
  let restore = () => {}
  vault.fetches = (http) => {
    restore = () => { http.setAllowance({ ...day, remaining: 5 }) }
    http.setAllowance({ ...day, remaining: 0 })
  }
  const { stored } = await scanOne(`${server.url}/blue.png`)
  t.ok(await exists(stored.path_cover_large), 'the download that spends it is made')
  const { task, stored: later } = await scanOne('file://roms/nowhere.png')
  t.equal(later.url_cover, null, 'nor is it asked about games')
  t.match(problems(task).join(), /vault was skipped once: its allowance 'day' is used up/)
  await rm(join(dataDir, 'resources'), { recursive: true, force: true })
  scriptOf('alpha').identify = () => ({ id: 9 })
  const again = await scan({ type: 'unmatched', roms_ids: [stored.id], apis: ['alpha'] })
  t.match(problems(again).join(), /artwork file .* vault is not called: its allowance 'day' is used up; calls resume at/)
  t.same(server.requests.length, 1)
  restore()
})

t.test('a provider with an open circuit gets no media requests', async (t) => {
  const alpha = scriptOf('alpha')
  alpha.identify = alpha.getById = () => ({ id: 7 })
  const { stored } = await scanOne(`${server.url}/blue.png`)
  t.equal(server.requests.length, 1)
  await rm(join(dataDir, 'resources'), { recursive: true, force: true })
  vault.getById = () => { throw new CredentialsRefusedError('the key is not valid any more') }
  const task = await scan({ type: 'update', roms_ids: [stored.id] })
  t.equal(server.requests.length, 1)
  t.match(problems(task).join(), /artwork file .* vault is not called: its credentials were refused/)
})
