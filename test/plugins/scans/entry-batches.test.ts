import t from 'tap'
import type { Entry } from '../../../plugins/entries/entries.ts'
import { inBatches } from '../../../plugins/scans/run/entry-batches.ts'

const MIB = 1024 ** 2

function createEntry (bytes: number): Entry {
  const file = {
    file_name: 'Game.bin', file_path: 'roms/gb', absolute_path: '/Game.bin', file_size_bytes: bytes, mtime: 0, inode: '1',
    is_top_level: true, category: null
  }
  return { fs_name: 'Game.bin', kind: 'file', files: [file], problems: [] }
}

async function listSizes (count: number, bytes: number): Promise<number[]> {
  async function * list () { for (let entry = 0; entry < count; entry++) yield createEntry(bytes) }
  const sizes: number[] = []
  for await (const batch of inBatches(list())) sizes.push(batch.length)
  return sizes
}

t.test('a hundred small files are one batch, and batches grow up to 500', async (t) => {
  t.strictSame(await listSizes(100, 8_192), [100])
  t.strictSame(await listSizes(2_000, 8_192), [128, 256, 500, 500, 500, 116])
  t.strictSame(await listSizes(0, 8_192), [])
})

t.test('the first batches of large files are small, but keep several threads busy', async (t) => {
  t.strictSame(await listSizes(70, 700 * MIB), [16, 16, 16, 16, 6])
  t.strictSame(await listSizes(200, MIB), [16, 32, 64, 88])
})
