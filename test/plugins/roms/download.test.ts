import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync, readlinkSync, readdirSync } from 'node:fs'
import { type IncomingMessage, get as httpGet } from 'node:http'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { parse as parseContentDisposition } from 'content-disposition'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { toEntryName } from '../../../plugins/roms/downloads/zip.ts'
import { RomFile } from '../../../plugins/roms/entities.ts'
import { type TestApp, buildTestApp, shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { addRom } from './support.ts'
import { readZip } from './zip-support.ts'
import { listen } from './download-support.ts'

const fresh = shareTestApp(t)

const BYTES = 'The bytes of a game, long enough to be cut.'

function fetchContent ({ app, admin }: TestApp, path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  return app.inject({ method, url: `/api/roms/${path}`, headers: { ...admin, ...headers } })
}

async function withGame (t: Test, name = 'game.sfc') {
  const test = await fresh(t, { library: { roms: { snes: { [name]: BYTES } } } })
  return { ...test, id: await addRom(test, { fs_name: name }) }
}

t.test('V14: a single-file ROM is sent whole, as a named attachment', async (t) => {
  const test = await withGame(t)
  const reply = await fetchContent(test, `${test.id}/content/anything.zip`)
  t.equal(reply.statusCode, 200)
  t.equal(reply.body, BYTES)
  t.match(reply.headers, {
    'content-type': 'application/octet-stream',
    'content-disposition': "attachment; filename*=UTF-8''game.sfc; filename=\"game.sfc\"",
    'content-length': String(BYTES.length),
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    etag: /^"[^"]+"$/,
    'last-modified': /GMT$/
  })
  const head = await fetchContent(test, `${test.id}/content/anything.zip`, {}, 'HEAD')
  t.equal(head.statusCode, 200)
  t.equal(head.body, '')
  for (const name of ['content-length', 'content-disposition', 'etag', 'accept-ranges']) {
    t.equal(head.headers[name], reply.headers[name], name)
  }
  t.equal((await test.app.inject({ url: `/api/roms/${test.id}/content/x` })).statusCode, 401)
})

t.test('a valid range gets a part, one beyond the end is refused, an invalid one ignored', async (t) => {
  const test = await withGame(t)
  const get = (range: string, headers: Record<string, string> = {}) => fetchContent(test, `${test.id}/content/x`, { range, ...headers })
  const size = BYTES.length
  const parts: [string, string, string][] = [
    ['bytes=0-3', BYTES.slice(0, 4), `bytes 0-3/${size}`],
    ['bytes=4-', BYTES.slice(4), `bytes 4-${size - 1}/${size}`],
    ['bytes=-4', BYTES.slice(-4), `bytes ${size - 4}-${size - 1}/${size}`],
    [`bytes=-${size + 9}`, BYTES, `bytes 0-${size - 1}/${size}`],
    ['bytes=10-9999', BYTES.slice(10), `bytes 10-${size - 1}/${size}`]
  ]
  for (const [range, body, contentRange] of parts) {
    const reply = await get(range)
    t.equal(reply.statusCode, 206, range)
    t.equal(reply.body, body)
    t.match(reply.headers, { 'content-range': contentRange, 'content-length': String(body.length) })
  }
  for (const range of [`bytes=${size}-`, 'bytes=-0']) {
    const reply = await get(range)
    t.equal(reply.statusCode, 416, range)
    t.equal(reply.headers['content-range'], `bytes */${size}`)
    t.same(reply.json(), {
      detail: `The file has ${size} bytes, none of which is in the range '${range}'; request a range inside the file, or remove the range`
    })
    t.notOk(reply.headers['content-disposition'])
  }
  for (const range of ['bytes=0-1,4-5', 'lines=0-1', 'bytes=x', 'bytes=-', 'bytes=9-3', '']) {
    const reply = await get(range)
    t.equal(reply.statusCode, 200, range)
    t.equal(reply.body, BYTES)
  }
  const { etag = '', 'last-modified': modified = '' } = (await get('')).headers
  t.equal((await get('bytes=0-3', { 'if-range': etag })).statusCode, 206)
  t.equal((await get('bytes=0-3', { 'if-range': String(modified) })).statusCode, 206)
  t.equal((await get('bytes=0-3', { 'if-range': '"another"' })).statusCode, 200)
  t.equal((await get('bytes=0-3', { 'if-range': `W/${etag}` })).statusCode, 200)
  const head = await fetchContent(test, `${test.id}/content/x`, { range: 'bytes=0-3' }, 'HEAD')
  t.match(head, { statusCode: 200, headers: { 'content-length': String(size) } }, 'ranges are for GET')
})

t.test('a fresh copy is not sent again, and a stale copy is', async (t) => {
  const test = await withGame(t)
  const get = (headers: Record<string, string>) => fetchContent(test, `${test.id}/content/x`, headers)
  const { etag = '', 'last-modified': modified = '' } = (await get({})).headers
  t.equal((await get({ 'if-none-match': etag })).statusCode, 304)
  t.equal((await get({ 'if-none-match': `"x", W/${etag}` })).statusCode, 304)
  t.equal((await get({ 'if-none-match': '*' })).statusCode, 304)
  t.equal((await get({ 'if-none-match': '"x"', 'if-modified-since': String(modified) })).statusCode, 200, 'the tag alone decides')
  t.equal((await get({ 'if-modified-since': String(modified) })).statusCode, 304)
  t.equal((await get({ 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).statusCode, 200)
  t.equal((await get({ 'if-modified-since': 'soon' })).statusCode, 200)
  const refused = await get({ 'if-match': '"x"' })
  t.equal(refused.statusCode, 412)
  t.same(refused.json(), { detail: `The file has changed and its ETag is now ${etag}; download it again, or remove the condition` })
  t.equal((await get({ 'if-match': etag })).statusCode, 200)
  t.equal((await get({ 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).statusCode, 412)
  const path = join(test.libraryDir, 'roms/snes/game.sfc')
  rmSync(path)
  writeFileSync(path, BYTES.toUpperCase())
  const changed = await get({ 'if-none-match': etag })
  t.equal(changed.statusCode, 200)
  t.equal(changed.body, BYTES.toUpperCase())
  t.not(changed.headers.etag, etag)
})

t.test('an empty file is sent', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: { 'empty.sfc': '' } } } })
  const id = await addRom(test, { fs_name: 'empty.sfc' })
  const reply = await fetchContent(test, `${id}/content/x`)
  t.match(reply, { statusCode: 200, body: '', headers: { 'content-length': '0' } })
})

t.test('any name a disk can hold reaches the client without breaking a header', async (t) => {
  for (const name of ['Pokémon 🎮 “quoted”.sfc', 'a"b;c=d%.sfc', 'a\nX-Evil: 1\r\n.sfc', 'ゼルダ.sfc', "o'n.sfc"]) {
    const test = await withGame(t, name)
    const reply = await fetchContent(test, `${test.id}/content/x`)
    t.equal(reply.statusCode, 200, JSON.stringify(name))
    t.equal(reply.body, BYTES)
    const header = String(reply.headers['content-disposition'])
    t.notMatch(header, /[\r\n]/)
    t.equal(parseContentDisposition(header).parameters.filename, name.replaceAll(/[\r\n]/g, '_'))
    t.equal(reply.headers['x-evil'], undefined)
  }
})

t.test('a file missing on disk is named in the error, and an unknown ROM is not found', async (t) => {
  const test = await withGame(t)
  rmSync(join(test.libraryDir, 'roms/snes/game.sfc'))
  const reply = await fetchContent(test, `${test.id}/content/x`)
  t.equal(reply.statusCode, 404)
  t.match(reply.json().detail, /game\.sfc/)
  t.notMatch(reply.body, test.libraryDir)
  t.equal((await fetchContent(test, '999/content/x')).statusCode, 404)
  t.equal((await fetchContent(test, '999/files/content/x')).statusCode, 404)
  t.equal((await fetchContent(test, '0/content/x')).statusCode, 422)
})

t.test('V1: no row of the database and no link leads out of the library', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: { 'a.sfc': BYTES, real: {} } }, other: { 'b.sfc': 'other' } } })
  const secret = join(test.libraryDir, '..', 'data', 'secret.txt')
  writeFileSync(secret, 'secret')
  symlinkSync(secret, join(test.libraryDir, 'roms/snes/link.sfc'))
  symlinkSync(join(test.libraryDir, 'other/b.sfc'), join(test.libraryDir, 'roms/snes/inside.sfc'))
  mkdirSync(join(test.libraryDir, '..', 'elsewhere'))
  writeFileSync(join(test.libraryDir, '..', 'elsewhere', 'c.sfc'), 'elsewhere')
  symlinkSync(join(test.libraryDir, '..', 'elsewhere'), join(test.libraryDir, 'roms/gb'))
  symlinkSync(join(test.libraryDir, '..', 'elsewhere'), join(test.libraryDir, 'roms/snes/out'))
  const status = async (seed: Parameters<typeof addRom>[1]) => {
    const reply = await fetchContent(test, `${await addRom(test, seed)}/content/x`)
    t.notMatch(reply.body, /^secret/)
    return [reply.statusCode, reply.body].slice(0, reply.statusCode === 200 ? 2 : 1)
  }
  t.same(await status({ fs_name: 'link.sfc' }), [404])
  t.same(await status({ fs_name: 'inside.sfc' }), [200, 'other'], 'a link within the library')
  t.same(await status({ fs_name: 'c.sfc', platform: 'gb' }), [200, 'elsewhere'], 'a platform that is a link')
  const escapes = ['../data', '../../data', '/etc', 'roms/snes/../../../data', 'roms/snes/out', '', 'roms/snes\0']
  for (const [i, folder] of escapes.filter((path) => !path.includes('\0')).entries()) {
    t.same(await status({
      fs_name: `e${i}`, fields: { fs_path: folder }, file: { file_path: folder, file_name: folder === 'roms/snes/out' ? 'c.sfc' : 'secret.txt' }
    }), [404], folder)
  }
  t.same(await status({ fs_name: 'name', file: { file_name: '../../../data/secret.txt' } }), [404])
  t.same(await status({ fs_name: 'folder', file: { file_name: 'real' } }), [404], 'a folder is no file')
  for (const path of ['..%2f..%2fdata%2fsecret.txt', '%2e%2e%2fsecret.txt', '..%5csecret.txt']) {
    const id = await addRom(test, { fs_name: `a.sfc?${path}`, file: { file_name: 'a.sfc' } })
    t.equal((await fetchContent(test, `${id}/content/${path}`)).body, BYTES, 'what the address says names nothing')
  }
  const id = await addRom(test, { fs_name: 'a.sfc' })
  t.match((await fetchContent(test, `${id}/content/%00`)).json(), { detail: [{ loc: ['path', 'file_name'], type: 'nul' }] })
})

const FOLDER = {
  Game: {
    'disc 1.cue': 'cue 1', 'disc 1.bin': 'bin 1', 'disc 2.cue': 'cue 2', 'ü 🎮.bin': 'unicode', manual: { 'm.pdf': 'pdf' }
  }
}
const FILES = ['disc 1.cue', 'disc 1.bin', 'disc 2.cue', 'ü 🎮.bin', 'manual/m.pdf']

t.test('a playlist names the files as the zip does', async (t) => {
  const names = ['C\\disc 1.cue', 'C\\disc 2.cue']
  const test = await fresh(t, { library: { roms: { psx: { Game: Object.fromEntries(names.map((name) => [name, 'cue'])) } } } })
  const id = await addRom(test, { fs_name: 'Game', platform: 'psx', files: names })
  const entries = await readZip((await fetchContent(test, `${id}/content/Game`)).rawPayload)
  t.same([...entries.keys()], ['C_disc 1.cue', 'C_disc 2.cue', 'Game.m3u'])
  t.equal(entries.get('Game.m3u'), 'C_disc 1.cue\nC_disc 2.cue')
})

t.test('a ROM of several files is sent as a zip of known size with a playlist', async (t) => {
  const test = await fresh(t, { library: { roms: { psx: FOLDER } } })
  const id = await addRom(test, { fs_name: 'Game', platform: 'psx', files: FILES })
  const reply = await fetchContent(test, `${id}/content/My%20Game`)
  t.equal(reply.statusCode, 200)
  t.match(reply.headers, {
    'content-type': 'application/zip',
    'content-disposition': "attachment; filename*=UTF-8''My%20Game.zip; filename=\"My Game.zip\"",
    'content-length': String(reply.rawPayload.length),
    'accept-ranges': 'bytes',
    etag: /^"[0-9a-f]+"$/
  })
  const entries = await readZip(reply.rawPayload)
  t.same([...entries.keys()].toSorted(), [...FILES, 'My Game.m3u'].toSorted())
  t.equal(entries.get('ü 🎮.bin'), 'unicode')
  t.equal(entries.get('manual/m.pdf'), 'pdf')
  t.equal(entries.get('My Game.m3u'), 'disc 1.cue\ndisc 2.cue')
  t.match(reply.rawPayload.indexOf('bin 1'), /\d/, 'stored, not compressed')

  const hidden = await readZip((await fetchContent(test, `${id}/content/x?hidden_folder=True`)).rawPayload)
  t.ok(hidden.has('.hidden/manual/m.pdf'))
  t.equal(hidden.get('x.m3u'), '.hidden/disc 1.cue\n.hidden/disc 2.cue')
  const head = await fetchContent(test, `${id}/content/x`, {}, 'HEAD')
  t.match(head, { statusCode: 200, body: '', headers: { 'content-type': 'application/zip' } })

  const files = await test.app.db.em.find(RomFile, {}, { orderBy: { file_name: 'asc' } })
  const ids = (names: string[]) => files.filter((file) => names.includes(file.file_name)).map((file) => file.id).join(',')
  const one = await fetchContent(test, `${id}/content/x?file_ids=${ids(['m.pdf'])}`)
  t.equal(one.body, 'pdf')
  t.match(one.headers, { 'content-disposition': "attachment; filename*=UTF-8''m.pdf; filename=\"m.pdf\"" })
  const two = await readZip((await fetchContent(test, `${id}/content/x?file_ids=${ids(['disc 1.bin', 'm.pdf'])}`)).rawPayload)
  t.equal(two.get('x.m3u'), 'disc 1.bin\nmanual/m.pdf', 'without a cue sheet everything is listed')
  t.equal((await fetchContent(test, `${id}/content/x?file_ids=9999`)).statusCode, 404)
  for (const wrong of ['x', '1,x', '-1', '1.5', '1e3', '99999999999']) {
    t.equal((await fetchContent(test, `${id}/content/x?file_ids=${wrong}`)).statusCode, 400, wrong)
  }
  rmSync(join(test.libraryDir, 'roms/psx/Game/disc 2.cue'))
  const gone = await fetchContent(test, `${id}/content/x`)
  t.equal(gone.statusCode, 404)
  t.match(gone.json().detail, /disc 2\.cue/)
})

t.test('an interrupted zip resumes at any byte, and restarts when a file changed', async (t) => {
  const test = await fresh(t, { library: { roms: { psx: FOLDER } } })
  const id = await addRom(test, { fs_name: 'Game', platform: 'psx', files: FILES })
  for (const path of [`${id}/content/Game`, `download?rom_ids=${id}`]) {
    const { headers: { etag = '' }, rawPayload: bytes } = await fetchContent(test, path)
    const head = await fetchContent(test, path, {}, 'HEAD')
    t.match(head, {
      statusCode: 200,
      body: '',
      headers: { 'content-length': String(bytes.length), 'accept-ranges': 'bytes', 'content-type': 'application/zip', etag }
    })
    const from = (start: number, headers: Record<string, string> = {}) =>
      fetchContent(test, path, { range: `bytes=${start}-`, ...headers })
    for (const start of [0, 1, 100, bytes.length - 1]) {
      const part = await from(start, { 'if-range': etag })
      t.match(part, {
        statusCode: 206, headers: { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}`, etag }
      })
      t.ok(part.rawPayload.equals(bytes.subarray(start)))
    }
    t.equal((await from(bytes.length)).statusCode, 416)
    t.equal((await fetchContent(test, path, { 'if-none-match': etag })).statusCode, 304)
    t.equal((await from(5, { 'if-range': '"another"' })).statusCode, 200)
    t.equal((await from(5, { 'if-range': new Date().toUTCString() })).statusCode, 200, 'a zip has no date to go by')
    writeFileSync(join(test.libraryDir, 'roms/psx/Game/disc 1.bin'), 'BIN 1')
    const anew = await from(5, { 'if-range': etag })
    t.equal(anew.statusCode, 200)
    t.equal(new Set((await readZip(anew.rawPayload)).values()).has('BIN 1'), true)
    writeFileSync(join(test.libraryDir, 'roms/psx/Game/disc 1.bin'), 'bin 1')
  }
})

t.test('a checksum of the scan is used only for the unchanged file it belongs to', async (t) => {
  const names = ['same.bin', 'touched.bin', 'grown.bin', 'packed.zip', 'unread.bin']
  const content = Object.fromEntries(names.map((name) => [name, name]))
  const test = await fresh(t, { library: { roms: { psx: { Game: content } } } })
  const folder = join(test.libraryDir, 'roms/psx/Game')
  const scanned = new Date('2024-01-02T03:04:05Z')
  for (const name of names) if (name !== 'touched.bin') utimesSync(join(folder, name), scanned, scanned)
  const id = await addRom(test, { fs_name: 'Game', platform: 'psx', files: names })
  const db = test.app.db
  for (const name of names) {
    await db.em.nativeUpdate(RomFile, { file_name: name }, {
      crc_hash: name === 'unread.bin' ? '' : crc32(name).toString(16).padStart(8, '0'),
      file_size_bytes: name === 'grown.bin' ? 1 : name.length
    })
  }
  const { rawPayload: bytes } = await fetchContent(test, `${id}/content/x`)
  t.equal((await readZip(bytes)).get('unread.bin'), 'unread.bin')
  const known = names.filter((name) => bytes.readUInt32LE(bytes.indexOf(name) - 16) === crc32(name))
  t.same(known, ['same.bin'])
})

t.test('an existing playlist stays, and no entry name leads out of the zip', async (t) => {
  const test = await fresh(t, { library: { roms: { psx: { Game: { 'own.M3U': 'x', 'C:evil': 'drive', 'a\\b': 'up' } } } } })
  const id = await addRom(test, { fs_name: 'Game', platform: 'psx', files: ['own.M3U', 'C:evil', 'a\\b'] })
  const entries = await readZip((await fetchContent(test, `${id}/content/..%2F..%2Fx`)).rawPayload)
  t.same([...entries.keys()].toSorted(), ['C_evil', 'a_b', 'own.M3U'])
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom('.', '/', '\\', 'a', ':', 'C') }), (path) => {
    const name = toEntryName(path)
    return !/^[a-z]:|^\/|\\/i.test(name) && !name.split('/').includes('..')
  }))
})

t.test('several ROMs are sent in one zip by their paths in the library', async (t) => {
  const test = await fresh(t, { library: { roms: { psx: FOLDER, snes: { 'a.sfc': 'A', 'b.sfc': 'B' } } } })
  const game = await addRom(test, { fs_name: 'Game', platform: 'psx', files: FILES })
  const a = await addRom(test, { fs_name: 'a.sfc' })
  await addRom(test, { fs_name: 'b.sfc' })
  await addRom(test, { fs_name: 'missing.sfc', fields: { missing_from_fs: true } })
  const platform = (await fetchContent(test, String(a))).json().platform_id
  const some = await fetchContent(test, `download?rom_ids=${game},${a},777`)
  t.match(String(some.headers['content-disposition']), /filename="2 ROMs \([0-9a-f]{8}\)\.zip"/)
  t.equal((await readZip(some.rawPayload)).get('roms/psx/Game/manual/m.pdf'), 'pdf')
  const all = await fetchContent(test, `download?platform_id=${platform}&rom_ids=${game}&filename=my%0D%0Aroms.zip`)
  t.same([...(await readZip(all.rawPayload)).keys()], ['roms/snes/a.sfc', 'roms/snes/b.sfc'])
  t.equal(all.headers['content-disposition'], "attachment; filename*=UTF-8''my__roms.zip; filename=\"my__roms.zip\"")
  t.equal((await fetchContent(test, 'download')).statusCode, 400)
  t.equal((await fetchContent(test, 'download?rom_ids=a')).statusCode, 400)
  t.equal((await fetchContent(test, 'download?rom_ids=777')).statusCode, 404)
  t.equal((await fetchContent(test, 'download?collection_id=1')).statusCode, 404)
})

t.test('a file that browsers can show is sent inline, and others as an attachment', async (t) => {
  const files = ['m.pdf', 'page.html', 'pic.svg', 'shot.png', 'track.mp3', 'game.bin']
  const content = Object.fromEntries(files.map((file) => [file, file]))
  const test = await fresh(t, { library: { roms: { psx: { Game: content } } } })
  await addRom(test, { fs_name: 'Game', platform: 'psx', files })
  const db = test.app.db
  await db.em.nativeUpdate(RomFile, { file_name: 'track.mp3' }, { category: 'soundtrack' })
  const expected: Record<string, [string, string]> = {
    'm.pdf': ['application/pdf', 'inline'], 'shot.png': ['image/png', 'inline'], 'track.mp3': ['audio/mpeg', 'inline'],
    'page.html': ['application/octet-stream', 'attachment'], 'pic.svg': ['application/octet-stream', 'attachment'],
    'game.bin': ['application/octet-stream', 'attachment']
  }
  for (const file of await db.em.find(RomFile, {})) {
    const reply = await fetchContent(test, `${file.id}/files/content/x.html`)
    t.equal(reply.body, file.file_name)
    t.same([reply.headers['content-type'], String(reply.headers['content-disposition']).split(';')[0]], expected[file.file_name])
    t.equal(reply.headers['x-content-type-options'], 'nosniff')
  }
})

/** Lists the paths below a folder that this process has open. */
function openFilesIn (folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return path.startsWith(folder) ? [path] : []
    } catch {
      return []
    }
  })
}

t.test('a client that disconnects leaves no file open', { skip: process.platform !== 'linux' }, async (t) => {
  const big = 'x'.repeat(24 * 1024 * 1024)
  const test = await fresh(t, { library: { roms: { psx: { Game: { 'a.bin': big, 'b.bin': big } } } } })
  const id = await addRom(test, { fs_name: 'Game', platform: 'psx', files: ['a.bin', 'b.bin'] })
  const [file] = await test.app.db.em.find(RomFile, {})
  const port = await listen(test)
  const hasOpen = (count: number) => until(() => openFilesIn(test.libraryDir).length === count, `${count} open files`)
  for (const path of [`${id}/content/x`, `${file?.id}/files/content/x`]) {
    const reply = await new Promise<IncomingMessage>((resolve) => {
      httpGet({ port, host: '127.0.0.1', path: `/api/roms/${path}`, headers: test.admin, agent: false }, resolve)
    })
    reply.on('error', () => {})
    t.ok(await hasOpen(1))
    reply.destroy()
    t.ok(await hasOpen(0))
  }
})

t.test('downloads are open to guests only if the config says so', async (t) => {
  const test = await buildTestApp(t, {
    library: { roms: { snes: { 'game.sfc': BYTES } } }, env: { DISABLE_DOWNLOAD_ENDPOINT_AUTH: 'true' }
  })
  const id = await addRom(test, { fs_name: 'game.sfc' })
  t.equal((await test.app.inject({ url: `/api/roms/${id}/content/x` })).body, BYTES)
  t.equal((await test.app.inject({ url: `/api/roms/download?rom_ids=${id}` })).statusCode, 401)

  const statusOf = async (scopes: string[]) => {
    const { raw_token: raw } = (await test.app.inject({
      method: 'POST', url: '/api/client-tokens', headers: test.admin, payload: { name: 'x', scopes }
    })).json<{ raw_token: string }>()
    return (await test.app.inject({ url: `/api/roms/${id}/content/x`, headers: { authorization: `Bearer ${raw}` } })).statusCode
  }
  t.equal(await statusOf(['me.read']), 200)
  await test.app.pg.query(`insert into hidden_entities (entity, entity_id, group_id)
    select 'roms', $1, id from permission_groups where is_default`, [id])
  t.equal((await test.app.inject({ url: `/api/roms/${id}/content/x` })).statusCode, 404, 'a guest does not see it')
  t.equal(await statusOf(['me.read']), 404, 'nor does a token that may not read ROMs')
  t.equal(await statusOf(['roms.read']), 200)
})
