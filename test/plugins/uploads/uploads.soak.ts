import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import type { Chunk } from '../../../plugins/uploads/rows.ts'
import { createStaging, locateChunk } from '../../../plugins/uploads/staging.ts'
import { content, cut, startUploads } from './uploads-support.ts'

const { path, call, send, complete, begin, scanned, staged } = await startUploads(t)

t.test('chunks in any order, size and number of repetitions give the same bytes', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-chunks-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  let count = 0
  const sizes = fc.oneof(
    fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 40 }))
      .map(([size, full, last]) => [...Array.from({ length: full }, () => size), Math.min(size, last)]),
    fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 9 })
  )
  const upload = sizes.chain((list) => fc.record({
    list: fc.constant(list),
    order: fc.shuffledSubarray(list.map((_size, index) => index), { minLength: list.length })
      .chain((all) => fc.array(fc.constantFrom(...all), { maxLength: 6 }).map((again) => [...all, ...again])),
    silent: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 2 })
  }))
  await fc.assert(fc.asyncProperty(upload, async ({ list, order, silent }) => {
    const total = list.reduce((sum, size) => sum + size, 0)
    const bytes = content(total)
    const starts = list.map((_size, index) => list.slice(0, index).reduce((sum, size) => sum + size, 0))
    const staging = createStaging(folder, `00000000-0000-0000-0000-${String(count++).padStart(12, '0')}`)
    const facts = { total_size: total, total_chunks: list.length, chunk_size: null as number | null }
    const chunks = new Map<number, Chunk>()
    for (const number of order) {
      const size = list[number] ?? 0
      const start = starts[number] ?? 0
      const piece = Readable.from([Buffer.from(bytes.subarray(start, start + size))])
      const isSilent = silent.includes(number)
      if (!isSilent && number < list.length - 1) facts.chunk_size ??= size
      const place = isSilent ? null : locateChunk(facts, number, size)
      if (place === null) await staging.writeToOwnFile(number, piece, () => {})
      else await staging.writeToUpload(place, piece, () => {})
      chunks.set(number, { number, size, has_own_file: place === null })
    }
    const all = [...chunks.values()].sort((a, b) => a.number - b.number)
    const copied = await readFile(await staging.assemble(facts, all, true))
    const result = await readFile(await staging.assemble(facts, all, false))
    const again = await readFile(await staging.assemble(facts, all, false))
    await staging.discard()
    return copied.equals(bytes) && result.equals(bytes) && again.equals(bytes) && (await readdir(folder)).length === 0
  }), { numRuns: 40 })
})

t.test('an upload cancelled during its completion is published whole or not at all', async (t) => {
  for (let round = 0; round < 6; round++) {
    const name = `Cancelled ${round}.sfc`
    const id = await begin(name, 2_000, 2)
    const chunks = cut(content(2_000), 1_000)
    for (const [index, chunk] of chunks.entries()) t.equal((await send(id, index, chunk)).status, 200)
    const [completed, cancelled] = await Promise.all([complete(id), call('POST', `/upload/${id}/cancel`, {})])
    t.equal(cancelled.status, 204)
    const files = await readdir(path())
    t.equal(files.includes(name), completed.status === 201, `answered ${completed.status}`)
    if (completed.status !== 201) continue
    t.ok(content(2_000).equals(await readFile(path(name))))
    await scanned(name)
  }
  t.same(await staged(), [])
})
