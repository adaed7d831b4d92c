import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { parseByteRange } from '../../plugins/resources/byte-range.ts'
import { contentDisposition } from '../../plugins/resources/file-reply.ts'
import { type TestApp, buildTestApp } from '../support.ts'

const COVER = 'roms/1/2/cover/big.png'

function write ({ config }: TestApp, path: string, content = 'picture'): string {
  const full = join(config.data_dir, 'resources', path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, content)
  return full
}

t.test('covers are open to anyone under both prefixes, kept for ever when the address has a version', async (t) => {
  const test = await buildTestApp(t)
  write(test, COVER)
  for (const prefix of ['/assets/romm/resources', '/assets/svc/resources']) {
    const reply = await test.app.inject({ url: `${prefix}/${COVER}` })
    t.match(reply, { statusCode: 200, body: 'picture' })
    t.match(reply.headers, {
      'content-type': 'image/png',
      'cache-control': 'public, max-age=3600, must-revalidate',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cross-origin-resource-policy': 'cross-origin',
      'set-cookie': undefined,
      'content-length': '7'
    })
    const versioned = await test.app.inject({ url: `${prefix}/${COVER}?ts=2026-08-01T12:00:00+00:00` })
    t.equal(versioned.headers['cache-control'], 'public, max-age=31536000, immutable')
    const head = await test.app.inject({ method: 'HEAD', url: `${prefix}/${COVER}` })
    t.match(head, { statusCode: 200, body: '', headers: { 'content-length': '7', etag: reply.headers.etag } })
    const again = await test.app.inject({ url: `${prefix}/${COVER}`, headers: { 'if-none-match': String(reply.headers.etag) } })
    t.match(again, { statusCode: 304, body: '' })
    const part = await test.app.inject({ url: `${prefix}/${COVER}`, headers: { range: 'bytes=0-2' } })
    t.match(part, { statusCode: 206, body: 'pic', headers: { 'content-range': 'bytes 0-2/7' } })
  }
})

t.test('every kind of media the library keeps is served by its own type', async (t) => {
  const test = await buildTestApp(t)
  const types: Record<string, string> = {
    'roms/1/2/screenshots/0.jpg': 'image/jpeg',
    'roms/1/2/manual/2.pdf': 'application/pdf',
    'roms/1/2/manual/2.md': 'text/markdown; charset=utf-8',
    'roms/1/2/video/video.mp4': 'video/mp4',
    'roms/1/2/box3d/box3d.webp': 'image/webp',
    'roms/1/2/retroachievements/badges/7_lock.png': 'image/png',
    'platforms/snes.png': 'image/png',
    'collections/3/cover/small.PNG': 'image/png'
  }
  for (const [path, type] of Object.entries(types)) {
    write(test, path)
    t.match(await test.app.inject({ url: `/assets/romm/resources/${path}` }), { statusCode: 200, headers: { 'content-type': type } }, path)
  }
})

t.test('nothing else is served: no user files, no scripts, no folders, no hidden files, nothing outside', async (t) => {
  const test = await buildTestApp(t)
  const paths = ['users/1/avatar.png', 'roms/1/2/cover/x.svg', 'roms/1/2/cover/x.html', 'roms/1/2/cover/.x.png',
    'roms/1/2/other/x.png', 'roms/1/x/cover/x.png', 'tmp/uploads/a/0.png', 'x.png', 'roms/1/2/cover/noextension']
  for (const path of paths) write(test, path, 'secret')
  writeFileSync(join(test.config.data_dir, 'secret.png'), 'secret')
  const cover = dirname(write(test, COVER))
  symlinkSync(join(test.config.data_dir, 'secret.png'), join(cover, 'link.png'))
  mkdirSync(join(cover, 'folder.png'))
  const refused = [...paths, 'roms/1/2/cover/link.png', 'roms/1/2/cover/folder.png', 'roms/1/2/cover', 'roms/1/2/cover/', '',
    '../secret.png', '..%2fsecret.png', '%2e%2e/secret.png', 'roms/1/2/cover/..%2f..%2f..%2f..%2f..%2fsecret.png',
    'roms/1/2/cover/..%5c..%5csecret.png', 'roms/1/2/cover/big.png%00', 'roms/1/2/cover/%00.png',
    'roms/1/2/cover/gone.png', `roms/1/2/cover/${'x'.repeat(300)}.png`, '/etc/passwd', 'roms/1/2/cover/big.png/x.png']
  for (const path of refused) {
    const reply = await test.app.inject({ url: `/assets/romm/resources/${path}` })
    t.ok(reply.statusCode === 404 || reply.statusCode === 400, `${path} ${reply.statusCode}`)
    t.notMatch(reply.body, /secret$/)
    t.notMatch(reply.body, test.config.data_dir)
  }
  t.equal((await test.app.inject({ method: 'POST', url: `/assets/romm/resources/${COVER}` })).statusCode, 404)
})

t.test('a range is what RFC 9110 makes of it', async () => {
  fc.assert(fc.property(fc.nat(50), fc.option(fc.nat(60)), fc.option(fc.nat(60)), (size, first, last) => {
    fc.pre(first !== null || last !== null)
    const bytes = Array.from({ length: size }, (_, i) => i)
    const wanted = first === null
      ? bytes.slice(Math.max(0, size - (last ?? 0)))
      : bytes.filter((byte) => byte >= first && (last === null || byte <= last))
    const range = parseByteRange(`bytes=${first ?? ''}-${last ?? ''}`, size)
    if (range === null) return false
    return wanted.length === 0
      ? range === 'unsatisfiable'
      : range !== 'unsatisfiable' && range.start === wanted[0] && range.end === wanted.at(-1)
  }))
  fc.assert(fc.property(fc.string(), fc.nat(), (header, size) => {
    const range = parseByteRange(header, size)
    return range === null || range === 'unsatisfiable' || (range.start >= 0 && range.start <= range.end && range.end < size)
  }))
})

t.test('no file name breaks its header', async () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (name) => {
    return /^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''[\x21-\x7e]*$/.test(contentDisposition('attachment', name))
  }))
})
