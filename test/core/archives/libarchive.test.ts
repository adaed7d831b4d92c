import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openWithLibarchive } from '../../../core/archives/libarchive.ts'
import { Budget, DEFAULT_LIMITS, UNWATCHED } from '../../../core/archives/limits.ts'
import { withSource } from '../../../core/archives/source.ts'
import { unpackFixture } from '../../plugins/hashing/fixtures.ts'

/** Counts how many WebAssembly instances some work creates. */
async function countInstances (work: () => Promise<unknown>): Promise<number> {
  const system = Reflect.get(globalThis, 'WebAssembly') as { instantiate: (...given: unknown[]) => unknown }
  const { instantiate } = system
  let count = 0
  system.instantiate = (...given) => {
    count++
    return instantiate(...given)
  }
  try {
    await work()
    return count
  } finally {
    system.instantiate = instantiate
  }
}

t.test('readers that stop early share an instance; a broken archive leaves none', async (t) => {
  const folder = t.testdir({})
  const [whole, broken] = [join(folder, 'whole.7z'), join(folder, 'broken.7z')]
  const bytes = unpackFixture('7z')
  writeFileSync(whole, bytes)
  const damaged = Buffer.from(bytes)
  damaged.fill(0, 40, 60)
  writeFileSync(broken, damaged)
  const readFirst = (path: string) => withSource(path, async (source) => {
    const archive = await openWithLibarchive(source, new Budget(source.size, DEFAULT_LIMITS, UNWATCHED))
    const pieces: Uint8Array[] = []
    for await (const entry of archive.entries(new Set([0]))) {
      for await (const piece of entry.content()) pieces.push(Uint8Array.from(piece))
    }
    return Buffer.concat(pieces).toString()
  })

  t.equal(await countInstances(async () => {
    for (let turn = 0; turn < 5; turn++) t.equal(await readFirst(whole), await readFirst(whole))
  }), 1)
  t.equal(await countInstances(async () => {
    await t.rejects(readFirst(broken))
    await readFirst(whole)
  }), 1, 'the one that failed is not trusted again')
})
