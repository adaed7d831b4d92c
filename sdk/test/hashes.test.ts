import t from 'tap'
import { contentHashes } from '../src/hashes.ts'
import { createRom } from '../src/testing/samples.ts'

t.test('contentHashes returns the hashes of the contents', async (t) => {
  const own = { crc_hash: '0000000f', md5_hash: 'f'.repeat(32), sha1_hash: 'f'.repeat(40) }
  const member = (name: string, size: number, digit: string) =>
    ({ name, size, crc_hash: digit.repeat(8), md5_hash: digit.repeat(32), sha1_hash: digit.repeat(40) })
  const hashesOf = (file: object) => {
    const [first] = createRom({ files: [{ ...own, ...file }] }).files
    return first && contentHashes(first)
  }
  t.same(hashesOf({}), own, 'any file by itself')
  t.same(hashesOf({ archive_members: [member('readme', 5, 'a'), member('game', 9, 'b'), member('late', 9, 'c')] }),
    { crc_hash: 'b'.repeat(8), md5_hash: 'b'.repeat(32), sha1_hash: 'b'.repeat(40) }, 'an archive by its first largest member')
  t.same(hashesOf({ archive_members: [member('empty', 0, 'a')] }), own, 'an archive of nothing by itself')
  t.same(hashesOf({ chd_sha1_hash: 'd'.repeat(40) }), { sha1_hash: 'd'.repeat(40) }, 'a CHD by its contents alone')
})
