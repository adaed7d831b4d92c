import { randomBytes } from 'node:crypto'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { join } from 'node:path'
import t from 'tap'
import { createHasher } from '../../../plugins/hashing/hasher.ts'
import { canConfine } from '../../../core/loader/process/node-level.ts'
import { SERVER_DIR } from '../../../core/server-dir.ts'
import { EMPTY_HASHES } from '../../../core/archives/types.ts'
import { FOLDERS, expectedHashes, makeTar, makeZip, MEMBERS, sortedMembers, unpackFixture } from './fixtures.ts'
import { plain, setUp, usual } from './hasher-support.ts'

t.teardown(() => usual.close())

t.test('a plain file is hashed by its bytes, whatever its size', async (t) => {
  const files = { empty: '', abc: 'abc', large: randomBytes(3 * 1024 ** 2 + 17), chunk: randomBytes(512 * 1024) }
  const { hasher, path } = setUp(t, files)
  for (const [name, content] of Object.entries(files)) {
    t.strictSame(await hasher.hashFile(path(name)), plain(Buffer.from(content)), name)
  }
  t.match(await hasher.hashFile(path('abc')), {
    crc_hash: '352441c2',
    md5_hash: '900150983cd24fb0d6963f7d28e17f72',
    sha1_hash: 'a9993e364706816aba3e25717850c26c9cd0d89d'
  }, 'the published values of abc')
})

t.test('a name that is not valid UTF-8 reaches the thread as it is', async (t) => {
  const { hasher, dir } = setUp(t, {})
  const path = Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0x66, 0xff, 0xfe])])
  writeFileSync(path, 'abc')
  t.match(await hasher.hashFile(path), expectedHashes(Buffer.from('abc')))
})

t.test('a single compressed file is hashed by its content', async (t) => {
  const alpha = Buffer.from('alpha\n')
  const { hasher, path } = setUp(t, {
    'a.gz': gzipSync(alpha),
    'two.gz': Buffer.concat([gzipSync(alpha), gzipSync(alpha)]),
    'a.BZ2': unpackFixture('bz2'),
    'two.bz2': Buffer.concat([unpackFixture('bz2'), unpackFixture('bz2')]),
    'a.xz': unpackFixture('xz'),
    'two.xz': Buffer.concat([unpackFixture('xz'), unpackFixture('xz')])
  })
  for (const name of ['a.gz', 'a.BZ2', 'a.xz']) t.strictSame(await hasher.hashFile(path(name)), plain(alpha), name)
  for (const name of ['two.gz', 'two.bz2', 'two.xz']) {
    t.strictSame(await hasher.hashFile(path(name)), plain(Buffer.concat([alpha, alpha])), name)
  }
})

t.test('broken compressed data gives empty hashes and a warning', async (t) => {
  const { hasher, path } = setUp(t, {
    'no.gz': 'no gzip at all',
    'cut.gz': gzipSync(randomBytes(1000)).subarray(0, 500),
    'cut.bz2': unpackFixture('bz2').subarray(0, 30),
    'cut.xz': unpackFixture('xz').subarray(0, 40),
    'empty.gz': '',
    'empty.bz2': '',
    'empty.xz': ''
  })
  for (const name of ['no.gz', 'cut.gz', 'cut.bz2', 'cut.xz', 'empty.gz', 'empty.bz2', 'empty.xz']) {
    const { warning, ...hashes } = await hasher.hashFile(path(name))
    t.strictSame(hashes, { ...EMPTY_HASHES, chd_sha1_hash: null, archive_members: null }, name)
    t.type(warning, 'string', `${name}: ${warning}`)
  }
})

t.test('a CHD of version 5 has the SHA-1 of its header and the hashes of its bytes', async (t) => {
  const chd = Buffer.concat([Buffer.from('MComprHD'), Buffer.alloc(76), Buffer.alloc(20, 0xab), Buffer.alloc(100)])
  chd.writeUInt32BE(124, 8)
  chd.writeUInt32BE(5, 12)
  const old = Buffer.from(chd)
  old.writeUInt32BE(4, 12)
  const large = Buffer.concat([chd, randomBytes(1024 ** 2)])
  const short = chd.subarray(0, 123)
  const { hasher, path } = setUp(t, { 'a.chd': chd, 'LARGE.CHD': large, 'old.chd': old, 'short.chd': short })
  t.strictSame(await hasher.hashFile(path('a.chd')), { ...plain(chd), chd_sha1_hash: 'ab'.repeat(20) })
  t.strictSame(await hasher.hashFile(path('LARGE.CHD')), { ...plain(large), chd_sha1_hash: 'ab'.repeat(20) })
  t.strictSame(await hasher.hashFile(path('old.chd')), plain(old))
  t.strictSame(await hasher.hashFile(path('short.chd')), plain(short))
})

t.test('a file that cannot be opened rejects with the error of the file system', async (t) => {
  const { hasher, path } = setUp(t, { target: 'x' })
  symlinkSync(path('target'), path('link'))
  mkdirSync(path('folder'))
  await t.rejects(hasher.hashFile(path('gone')), { code: 'ENOENT', syscall: 'open', path: path('gone') })
  await t.rejects(hasher.hashFile(path('link')), { code: 'ELOOP' })
  await t.rejects(hasher.hashFile(path('folder')), { code: 'EISDIR', message: /not a regular file/ })
})

t.test('a group has hashes for each file and for all together', async (t) => {
  const large = randomBytes(600_000)
  const { hasher, path } = setUp(t, { one: 'first', two: large, 'three.gz': gzipSync('third') })
  const { files, combined } = await hasher.hashGroup(['one', 'two', 'three.gz'].map(path))
  const contents = [Buffer.from('first'), large, Buffer.from('third')]
  t.strictSame(files, contents.map(plain))
  t.strictSame(combined, expectedHashes(...contents))
})

t.test('in a group an archive counts with its largest member', async (t) => {
  const names = ['x.zip', 'x.tar', 'x.tgz', 'x.7z']
  const { hasher, path } = setUp(t, {
    'x.zip': await makeZip(MEMBERS),
    'x.tar': await makeTar(MEMBERS),
    'x.tgz': gzipSync(await makeTar(MEMBERS)),
    'x.7z': unpackFixture('7z')
  })
  const largest = Buffer.from('gamma\n'.repeat(100))
  const { files, combined } = await hasher.hashGroup(names.map(path))
  t.strictSame(files, names.map(() => plain(largest)))
  t.strictSame(combined, expectedHashes(largest, largest, largest, largest))
})

t.test('a truncated archive in a group counts with its own bytes in both hashes', async (t) => {
  const broken = (await makeZip([{ name: 'a', bytes: randomBytes(400_000) }])).fill(0, 1000, 2000)
  const { hasher, path } = setUp(t, { one: 'first', 'broken.zip': broken, last: 'last' })
  const { files, combined } = await hasher.hashGroup(['one', 'broken.zip', 'last'].map(path))
  t.match(files[1], { ...plain(broken), warning: String })
  t.strictSame(combined, expectedHashes(Buffer.from('first'), broken, Buffer.from('last')))
})

t.test('a group with an unreadable file has no combined hash', async (t) => {
  const { hasher, path } = setUp(t, { one: 'first', 'bad.gz': 'bad' })
  const withBroken = await hasher.hashGroup([path('one'), path('bad.gz')])
  t.strictSame(withBroken.combined, EMPTY_HASHES)
  t.strictSame(withBroken.files[0], plain(Buffer.from('first')))
  const withMissing = await hasher.hashGroup([path('gone'), path('one')])
  t.strictSame(withMissing.combined, EMPTY_HASHES)
  t.match(withMissing.files, [{ code: 'ENOENT' }, plain(Buffer.from('first'))])
  t.strictSame((await hasher.hashGroup([])).combined, EMPTY_HASHES)
})

t.test('a signal stops a file at once and frees its thread', async (t) => {
  const { hasher, path } = setUp(t, { huge: '', small: 'abc' }, { threads: 1 })
  truncateSync(path('huge'), 64 * 1024 ** 3)
  const controller = new AbortController()
  const reason = new Error('enough')
  const hashing = [path('huge'), path('small')].map((one) => hasher.hashFile(one, { signal: controller.signal }))
  setImmediate(() => setImmediate(() => controller.abort(reason)))
  // The rejection comes before 64 GiB are read, which would exceed the time of a test.
  t.match(await Promise.allSettled(hashing), [{ status: 'rejected', reason }, { status: 'rejected', reason }])
  t.match(await hasher.hashFile(path('small')), expectedHashes(Buffer.from('abc')))
  await t.rejects(hasher.hashFile(path('small'), { signal: AbortSignal.abort() }), { name: 'AbortError' })
})

t.test('closing rejects unfinished and later work', async (t) => {
  const { hasher, path } = setUp(t, { huge: '' }, { threads: 1 })
  truncateSync(path('huge'), 64 * 1024 ** 3)
  const hashing = t.rejects(hasher.hashFile(path('huge')), { message: /closed before/ })
  await hasher.close()
  await hashing
  await t.rejects(hasher.hashFile(path('huge')), { message: /closed; create a new one/ })
})

t.test('a number of threads that cannot be is refused', (t) => {
  t.throws(() => createHasher({ folders: FOLDERS, threads: 0 }), { message: /threads is 0/ })
  t.end()
})

t.test('excluded names and extensions are not hashed', async (t) => {
  const junk = ['.DS_Store', 'sub/Thumbs.db', 'readme.TXT', 'pack.tar.gz', '._x'].map((name) => {
    return { name, bytes: Buffer.from(`junk ${name}`) }
  })
  const zip = await makeZip([...junk, ...MEMBERS])
  const { hasher, path } = setUp(t, { 'a.zip': zip, 'junk.zip': await makeZip(junk) }, {
    excluded: { names: ['.DS_Store', 'Thumbs.db', /^\._/], extensions: ['txt', 'tar.gz'] }
  })
  const found = await hasher.hashFile(path('a.zip'))
  t.strictSame(found.archive_members?.map(({ name }) => name), sortedMembers().map(({ name }) => name))
  t.match(found, expectedHashes(...sortedMembers().map(({ bytes }) => bytes)))
  t.match(await hasher.hashFile(path('junk.zip')), { archive_members: null, warning: 'there is no file in it' })
})

t.test('a file outside the folders of the hasher is refused', { skip: canConfine() ? false : 'this Node confines nothing' }, async (t) => {
  const dir = t.testdir({ library: { inside: 'abc' }, library2: { beside: 'abc' } })
  const hasher = createHasher({ folders: [join(dir, 'library')], threads: 1 })
  t.teardown(() => hasher.close())
  t.match(await hasher.hashFile(join(dir, 'library', 'inside')), { crc_hash: '352441c2' })
  for (const path of [join(dir, 'library2', 'beside'), join(dir, 'library', '..', 'library2', 'beside'), join(SERVER_DIR, 'README.md'), '/etc/hostname']) {
    await t.rejects(hasher.hashFile(path), { code: 'ERR_ACCESS_DENIED' }, path)
    t.match(await hasher.hashRetroAchievements(path, 3), { ra_hash: null, warning: /restricted/ }, path)
  }
})
