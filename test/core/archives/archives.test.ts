import { randomBytes } from 'node:crypto'
import { deflateRawSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { Budget, DEFAULT_LIMITS, UNWATCHED } from '../../../core/archives/limits.ts'
import {
  expectedHashes, makeRar, makeTar, makeZip, MEMBERS, sortedMembers, unpackFixture, type Content
} from '../../plugins/hashing/fixtures.ts'
import { ownBytes, setUp, usual } from './archives-support.ts'

t.teardown(() => usual.close())

function expectedOf (members: readonly Content[]) {
  const sorted = sortedMembers(members)
  return {
    ...expectedHashes(...sorted.map(({ bytes }) => bytes)),
    chd_sha1_hash: null,
    archive_members: sorted.map(({ name, bytes }) => ({ name, size: bytes.length, ...expectedHashes(bytes) }))
  }
}

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

t.test('a jump of the clock, as after a suspend, costs an archive none of its time', (t) => {
  const budget = new Budget(1, DEFAULT_LIMITS, UNWATCHED)
  const now = Date.now()
  t.intercept(Date, 'now', { value: () => now + 3_600_000 })
  budget.addBytes(1)
  t.end()
})

t.test('the ratio stops a zip whose entries all point at the same data', async (t) => {
  const zip = makeOverlappingZip(Buffer.alloc(1024 ** 2), 5000)
  t.match(await setUp(t)('overlap.zip', zip), ownBytes(zip, /times its size/))
})

t.test('an archive inside an archive is a member like any other', async (t) => {
  const members = [{ name: 'inner.zip', bytes: await makeZip(MEMBERS) }]
  t.strictSame(await setUp(t)('outer.zip', await makeZip(members)), expectedOf(members))
})

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
