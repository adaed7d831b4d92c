import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { expectedHashes, makeRar, makeTar, makeZip, MEMBERS, unpackFixture } from '../../plugins/hashing/fixtures.ts'
import { ownBytes, setUp, usual } from './archives-support.ts'

t.teardown(() => usual.close())

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
