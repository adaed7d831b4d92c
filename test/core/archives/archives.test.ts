import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createHasher, type HasherOptions } from '../../../plugins/hashing/hasher.ts'
import {
  FOLDERS, expectedHashes, makeRar, makeTar, makeZip, MEMBERS, sortedMembers, unpackFixture, type Content
} from '../../plugins/hashing/fixtures.ts'

/** Threads take longer to start than these archives to read: one for all tests without options of their own. */
const usual = createHasher({ folders: FOLDERS, threads: 1 })
t.teardown(() => usual.close())

function setUp (t: Test, options?: Partial<HasherOptions>) {
  const dir = t.testdir({})
  const hasher = options === undefined ? usual : createHasher({ folders: FOLDERS, threads: 1, ...options })
  if (hasher !== usual) t.teardown(() => hasher.close())
  return async (name: string, bytes: Uint8Array) => {
    writeFileSync(join(dir, name), bytes)
    return hasher.hashFile(join(dir, name))
  }
}

function expectedOf (members: readonly Content[]) {
  const sorted = sortedMembers(members)
  return {
    ...expectedHashes(...sorted.map(({ bytes }) => bytes)),
    chd_sha1_hash: null,
    archive_members: sorted.map(({ name, bytes }) => ({ name, size: bytes.length, ...expectedHashes(bytes) }))
  }
}

const ownBytes = (bytes: Uint8Array, warning: RegExp) => ({ ...expectedHashes(bytes), archive_members: null, warning })

t.test('every archive format gives the same hashes for the same members', async (t) => {
  const hash = setUp(t)
  const tar = await makeTar(MEMBERS)
  const archives: Record<string, Uint8Array> = {
    'a.zip': await makeZip(MEMBERS),
    'a.7z': unpackFixture('7z'),
    'a.rar': makeRar(MEMBERS),
    'a.tar': tar,
    'a.tar.gz': gzipSync(tar),
    'A.TGZ': gzipSync(tar),
    'a.tar.bz2': unpackFixture('tar.bz2'),
    'a.tbz2': unpackFixture('tar.bz2'),
    'a.tar.xz': unpackFixture('tar.xz'),
    'a.txz': unpackFixture('tar.xz')
  }
  for (const [name, bytes] of Object.entries(archives)) t.strictSame(await hash(name, bytes), expectedOf(MEMBERS), name)
})

t.test('a member too large to unpack in one call is hashed like any other', async (t) => {
  const hash = setUp(t)
  const members = [{ name: 'large', bytes: Buffer.concat([randomBytes(2 * 1024 ** 2), Buffer.alloc(1024 ** 2)]) },
    { name: 'limit', bytes: randomBytes(1024 ** 2) }, { name: 'none', bytes: Buffer.alloc(0) }]
  t.strictSame(await hash('a.zip', await makeZip(members)), expectedOf(members))
})

t.test('an archive with the wrong extension is read by its real format', async (t) => {
  const hash = setUp(t)
  t.strictSame(await hash('a.7z', await makeZip(MEMBERS)), expectedOf(MEMBERS))
  t.strictSame(await hash('a.zip', makeRar(MEMBERS)), expectedOf(MEMBERS))
})

t.test('an unreadable archive gives the hashes of its own bytes', async (t) => {
  const hash = setUp(t)
  const zip = await makeZip(MEMBERS)
  const tar = await makeTar([...MEMBERS, { name: 'z', bytes: randomBytes(5000) }])
  const cases: [name: string, bytes: Buffer, warning: RegExp][] = [
    ['noise.zip', randomBytes(1000), /not a zip, 7z or rar/],
    ['empty.zip', await makeZip([]), /there is no file/],
    ['nothing.zip', Buffer.alloc(0), /not a zip/],
    ['cut.zip', zip.subarray(0, -10), /./],
    ['encrypted.7z', unpackFixture('encrypted.7z'), /encrypted/],
    ['cut.7z', unpackFixture('7z').subarray(0, 150), /./],
    ['cut.tar', tar.subarray(0, -3000), /Unexpected end/],
    ['noise.tar', randomBytes(2048), /./],
    ['cut.tgz', gzipSync(tar).subarray(0, 1000), /./],
    ['noise.tar.bz2', randomBytes(100), /./],
    ['cut.rar', makeRar(MEMBERS).subarray(0, 300), /./]
  ]
  for (const [name, bytes, warning] of cases) t.match(await hash(name, bytes), ownBytes(bytes, warning), name)
})

t.test('a member with a wrong checksum or size makes the archive unreadable', async (t) => {
  const hash = setUp(t)
  const zip = await makeZip([{ name: 'a', bytes: Buffer.alloc(100, 1) }])
  const central = zip.indexOf('PK\x01\x02', 0, 'latin1')
  const wrongCrc = Buffer.from(zip)
  wrongCrc.writeUInt32LE(1, central + 16)
  t.match(await hash('crc.zip', wrongCrc), ownBytes(wrongCrc, /'a' has a wrong checksum/))
  for (const size of [99, 101]) {
    const wrongSize = Buffer.from(zip)
    wrongSize.writeUInt32LE(size, central + 24)
    t.match(await hash('size.zip', wrongSize), ownBytes(wrongSize, /'a' (is longer|has 100 bytes)/), `${size}`)
  }
})

t.test('links and folders are skipped, and odd names are kept', async (t) => {
  const hash = setUp(t)
  const members = [{ name: '../../etc/cron', bytes: Buffer.from('x') }, { name: '/abs', bytes: Buffer.from('y') }]
  t.strictSame(await hash('a.tar', await makeTar(members, ['link', '../up'])), expectedOf(members))
  t.match(await hash('a.zip', await makeZip(MEMBERS, 0o120777)), { archive_members: null, warning: /no file/ })
  t.match(await hash('b.zip', await makeZip(MEMBERS, 0o020666)), { archive_members: null, warning: /no file/ })
})

t.test('each exceeded limit makes the archive unreadable and is named', async (t) => {
  const zeros = await makeZip([{ name: 'zeros', bytes: Buffer.alloc(20 * 1024 ** 2) }])
  const zerosGzip = gzipSync(Buffer.alloc(20 * 1024 ** 2), { level: 9 })
  t.match(await setUp(t)('bomb.zip', zeros), ownBytes(zeros, /more than 1000 times its size/))
  t.match(await setUp(t)('bomb.gz', zerosGzip), { sha1_hash: '', warning: /more than 1000 times its size/ })
  const tar = await makeTar(MEMBERS)
  t.match(await setUp(t, { limits: { entries: 2 } })('a.tar', tar), ownBytes(tar, /more than 2 entries/))
  t.match(await setUp(t, { limits: { totalBytes: 500 } })('a.tar', tar), ownBytes(tar, /more than 500 bytes/))
  const sevenZip = unpackFixture('7z')
  t.match(await setUp(t, { limits: { totalBytes: 500 } })('a.7z', sevenZip), ownBytes(sevenZip, /more than 500 bytes/))
  t.match(await setUp(t, { limits: { timeoutMs: -1000 } })('a.tar', tar), ownBytes(tar, /time limit/))
})

t.test('the ratio stops a zip whose entries all point at the same data', async (t) => {
  const zip = makeOverlappingZip(Buffer.alloc(1024 ** 2), 5000)
  t.match(await setUp(t)('overlap.zip', zip), ownBytes(zip, /times its size/))
})

t.test('an archive inside an archive is a member like any other', async (t) => {
  const members = [{ name: 'inner.zip', bytes: await makeZip(MEMBERS) }]
  t.strictSame(await setUp(t)('outer.zip', await makeZip(members)), expectedOf(members))
})

t.test('a corrupt archive is at worst unreadable', async (t) => {
  const hash = setUp(t, { limits: { timeoutMs: 2000 } })
  const tar = await makeTar(MEMBERS)
  const fixtures: [name: string, bytes: Buffer][] = [
    ['f.zip', await makeZip(MEMBERS)], ['f.7z', unpackFixture('7z')], ['f.tar', tar], ['f.tgz', gzipSync(tar)],
    ['f.rar', makeRar(MEMBERS)], ['f.tar.bz2', unpackFixture('tar.bz2')], ['f.txz', unpackFixture('tar.xz')],
    ['f.bz2', unpackFixture('bz2')], ['f.xz', unpackFixture('xz')]
  ]
  for (const [name, bytes] of fixtures) {
    await fc.assert(fc.asyncProperty(corruption(bytes.length), async ({ flips, length }) => {
      const corrupt = Buffer.from(bytes.subarray(0, length))
      for (const [at, value] of flips) if (at < length) corrupt[at] = value
      const found = await hash(name, corrupt)
      if (found.warning === undefined) return found.sha1_hash.length === 40
      return found.sha1_hash === (/^f\.(bz2|xz)$/.test(name) ? '' : expectedHashes(corrupt).sha1_hash)
    }), { numRuns: 40 })
    t.pass(name)
  }
})

function corruption (length: number) {
  const flip = fc.tuple(fc.nat(length - 1), fc.integer({ min: 0, max: 255 }))
  return fc.record({
    flips: fc.array(flip, { minLength: 1, maxLength: 4 }),
    length: fc.oneof(fc.constant(length), fc.integer({ min: 1, max: length }))
  })
}

/** Creates a zip with many central directory entries for one local file. */
function makeOverlappingZip (content: Buffer, entries: number): Buffer {
  const packed = deflateRawSync(content)
  const local = Buffer.alloc(31)
  local.write('PK\x03\x04', 0, 'latin1')
  local.writeUInt16LE(8, 8)
  local.writeUInt16LE(1, 26)
  const central = Buffer.alloc(47)
  central.write('PK\x01\x02', 0, 'latin1')
  central.writeUInt16LE(8, 10)
  central.writeUInt32LE(packed.length, 20)
  central.writeUInt32LE(content.length, 24)
  central.writeUInt16LE(1, 28)
  central.write('a', 46)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(entries, 8)
  end.writeUInt16LE(entries, 10)
  end.writeUInt32LE(entries * central.length, 12)
  end.writeUInt32LE(local.length + packed.length, 16)
  return Buffer.concat([local, packed, ...Array.from({ length: entries }, () => central), end])
}
