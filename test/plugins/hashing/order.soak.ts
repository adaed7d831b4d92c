import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { hashMembers, type Archive, type Entry } from '../../../core/archives/archive.ts'
import { expectedHashes, sortedMembers, type Content } from './fixtures.ts'
import { character } from '../../any-string.ts'

/** Creates an archive that can only be read forward, and counts its readings. */
function streamed (members: readonly Content[]) {
  const readings = { count: 0 }
  const entries = members.map<Entry>(({ name, bytes }, index) => {
    return { index, name, size: bytes.length, crc: null, content: () => [bytes.subarray(0, 3), bytes.subarray(3)] }
  })
  const archive: Archive = {
    list: async () => entries,
    async * entries (wanted) {
      readings.count++
      yield * entries.filter(({ index }) => !wanted || wanted.has(index))
    }
  }
  return { archive, readings }
}

const member = fc.record({ name: fc.string({ unit: character, minLength: 1, maxLength: 4 }), bytes: fc.uint8Array() })
  .map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes) }))

t.test('members in any order have the hash of members in the order of names', async () => {
  await fc.assert(fc.asyncProperty(fc.array(member, { minLength: 1, maxLength: 8 }), async (members) => {
    const { total, members: listed } = await hashMembers(streamed(members).archive, {})
    const sorted = sortedMembers(members)
    assert.deepEqual(total.hashes(), expectedHashes(...sorted.map(({ bytes }) => bytes)))
    assert.deepEqual(listed.map(({ name }) => name), sorted.map(({ name }) => name))
  }), { numRuns: 200 })
})

t.test('an archive in order is read once', async (t) => {
  const { archive, readings } = streamed(['a', 'b', 'b', 'c'].map((name) => ({ name, bytes: Buffer.from(name) })))
  await hashMembers(archive, {})
  t.equal(readings.count, 1)
})

t.test('members too large to be cached are read again', async (t) => {
  const members = ['d', 'c', 'b', 'a'].map((name) => ({ name, bytes: Buffer.alloc(30 * 1024 ** 2, name) }))
  const { archive, readings } = streamed(members)
  const { total } = await hashMembers(archive, {})
  t.strictSame(total.hashes(), expectedHashes(...sortedMembers(members).map(({ bytes }) => bytes)))
  t.equal(readings.count, 3, 'once for each member by itself, once for a, b and c, once for d')
})
