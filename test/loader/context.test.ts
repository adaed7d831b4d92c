import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createFiles } from '../../core/loader/plugin-files.ts'
import { createCache, dropExpiredCache } from '../../core/loader/plugin-cache.ts'
import type { Db } from '../../core/database/db.ts'
import { createMemo } from '../../core/loader/calls/memo.ts'
import { openDb } from '../open-db.ts'
import { createTestDatabase } from '../support.ts'

async function connect (t: Test): Promise<Db> {
  const { db, close } = await openDb(await createTestDatabase(t))
  t.teardown(close)
  return db
}

t.test('a cached value survives a restart, and only its plugin reads it', async (t) => {
  const db = await connect(t)
  await createCache(db, 'provider/a').set('key', { list: [1, 'zwei', null] })
  t.same(await createCache(db, 'provider/a').get('key'), { list: [1, 'zwei', null] })
  t.equal(await createCache(db, 'provider/b').get('key'), undefined)
  t.equal(await createCache(db, 'channel/a').get('key'), undefined)
})

t.test('a value is replaced, deleted and expires', async (t) => {
  const db = await connect(t)
  const cache = createCache(db, 'provider/a')
  await cache.set('key', 1, 60_000)
  await cache.set('key', 2, 60_000)
  t.equal(await cache.get('key'), 2)
  await db.query("update plugin_cache set expires_at = now() - interval '1 second'")
  t.equal(await cache.get('key'), undefined)
  await cache.set('other', 1)
  await dropExpiredCache(db)
  t.same((await db.query('select key from plugin_cache')).rows, [{ key: 'other' }], 'what was forgotten is deleted')
  await cache.set('key', 3)
  t.equal(await cache.get('key'), 3, 'without a time it stays')
  await cache.delete('key')
  t.equal(await cache.get('key'), undefined)
})

t.test('any JSON value is read back unchanged', async (t) => {
  const cache = createCache(await connect(t), 'provider/a')
  // PostgreSQL stores no NUL character in JSON.
  const values = fc.jsonValue({ noUnicodeString: false }).filter((value) => !JSON.stringify(value).includes('\\u0000'))
  await fc.assert(fc.asyncProperty(values, async (value) => {
    const text = JSON.stringify(value)
    await cache.set('key', JSON.parse(text))
    t.same(await cache.get('key'), JSON.parse(text))
  }), { numRuns: 40 })
})

t.test('files of the library are read and listed by name', async (t) => {
  const library = t.testdir({ roms: { snes: { 'b.txt': 'two', 'a.txt': 'one', sub: {} } } })
  for (const [i, name] of ['a.txt', 'b.txt', 'sub'].entries()) utimesSync(join(library, 'roms/snes', name), i + 1, i + 1)
  const files = createFiles(library)
  t.equal(await files.readText('roms/snes/a.txt'), 'one')
  t.equal(await text(files.stream('roms/snes/a.txt')), 'one')
  t.same(await files.list('roms/snes'), [
    { name: 'a.txt', kind: 'file', size: 3, mtime: 1_000 }, { name: 'b.txt', kind: 'file', size: 3, mtime: 2_000 },
    { name: 'sub', kind: 'folder', size: 0, mtime: 3_000 }
  ])
  t.equal((await files.list('roms/snes')).length, 3)
  t.equal(await files.exists('roms/snes/sub'), true)
})

t.test('a missing file is undefined, empty or false, not an error', async (t) => {
  const files = createFiles(t.testdir({ roms: { 'a.txt': '' } }))
  t.equal(await files.readText('roms/no.txt'), undefined)
  t.equal(await text(files.stream('roms/no.txt')), '')
  t.equal(await files.readText('roms'), undefined, 'a folder has no text')
  t.same(await files.list('no/such/folder'), [])
  t.same(await files.list('roms/a.txt'), [])
  t.equal(await files.exists('roms/no.txt'), false)
})

t.test('nothing outside the library can be read, directly or through a link', async (t) => {
  const folder = t.testdir({ library: { roms: {} }, 'secret.key': 'do not read', outside: { 'a.txt': '' } })
  const library = join(folder, 'library')
  symlinkSync('../../secret.key', join(library, 'roms', 'link'))
  symlinkSync('../../outside', join(library, 'roms', 'folder'))
  const files = createFiles(library)
  for (const path of ['../secret.key', 'roms/../../secret.key', join(folder, 'secret.key'), 'roms/link', 'roms/\0']) {
    await t.rejects(files.readText(path), { name: 'PathRefusedError' }, JSON.stringify(path))
    await t.rejects(files.exists(path), { name: 'PathRefusedError' }, JSON.stringify(path))
    await t.rejects(text(files.stream(path)), { name: 'PathRefusedError' }, JSON.stringify(path))
  }
  await t.rejects(files.list('roms/folder'), { name: 'PathRefusedError' })
  t.same(await files.list('roms'), [], 'nor does a list tell of it')
})

t.test('a file larger than the limit is refused before it fills the memory', async (t) => {
  const files = createFiles(t.testdir({ 'a.txt': 'x'.repeat(100) }))
  t.equal((await files.readText('a.txt', 100))?.length, 100)
  await t.rejects(files.readText('a.txt', 99), { message: /larger than 99 bytes/ })
})

t.test('a broken link is skipped in a list', async (t) => {
  const library = t.testdir({})
  mkdirSync(join(library, 'roms'))
  writeFileSync(join(library, 'roms', 'a.txt'), '')
  symlinkSync('nowhere', join(library, 'roms', 'broken'))
  t.same((await createFiles(library).list('roms')).map(({ name }) => name), ['a.txt'])
})

t.test('memo shares work among callers and retries it after a failure', async (t) => {
  const memo = createMemo()
  let made = 0
  const make = async () => ++made
  t.same(await Promise.all([memo('a', make), memo('a', make), memo('b', make)]), [1, 1, 2])
  const fail = async () => { throw new Error('down') }
  await t.rejects(Promise.all([memo('c', fail), memo('c', fail)]), { message: 'down' })
  t.equal(await memo('c', make), 3)
})
