import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { writePieces } from '../../../plugins/uploads/write-pieces.ts'

const KIB = 1024

async function openFile (t: Test): Promise<{ path: string, handle: FileHandle }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-pieces-'))
  const path = join(folder, 'file')
  writeFileSync(path, '')
  const handle = await open(path, 'r+')
  t.teardown(async () => {
    await handle.close()
    rmSync(folder, { recursive: true })
  })
  return { path, handle }
}

/** A handle whose first write of several pieces ends early, as on a slow disk. */
const writesLess = (handle: FileHandle, bytes: number) => Object.assign(Object.create(handle) as FileHandle, {
  write: handle.write.bind(handle),
  datasync: handle.datasync.bind(handle),
  writev: async (pieces: readonly Buffer[], at: number) => {
    const all = Buffer.concat(pieces)
    return await handle.write(all, 0, Math.min(bytes, all.length), at)
  }
})

const PIECES = fc.array(fc.tuple(fc.integer({ min: 1, max: 400 * KIB }), fc.nat(255)), { minLength: 1, maxLength: 6 })

t.test('a file has all pieces in order, from its position, even if writes end early', async (t) => {
  const { path, handle } = await openFile(t)
  const mosts = fc.integer({ min: 1, max: 900 * KIB })
  await fc.assert(fc.asyncProperty(PIECES, fc.nat(1_000), mosts, async (sizes, start, most) => {
    await handle.truncate(0)
    const pieces = sizes.map(([size, value]) => Buffer.alloc(size, value))
    const whole = Buffer.concat([Buffer.alloc(start), ...pieces])
    await writePieces(writesLess(handle, most), start, Readable.from(pieces), () => {})
    return readFileSync(path).equals(whole)
  }), { numRuns: 20 })
})

t.test('the memory of written pieces is free before the garbage collector runs', async (t) => {
  const { handle } = await openFile(t)
  const own = Array.from({ length: 20 }, () => Buffer.from(new Uint8Array(64 * KIB).buffer))
  await writePieces(handle, 0, Readable.from(own), () => {})
  t.same(own.map(({ length }) => length), own.map(() => 0))
})

t.test('a piece that shares its memory stays as it is', async (t) => {
  const { handle } = await openFile(t)
  const shared = Buffer.from(new Uint8Array(64).fill(7).buffer)
  await writePieces(handle, 0, Readable.from([shared.subarray(0, 32)]), () => {})
  t.equal(shared[0], 7)
})

t.test('a refused piece stops the upload with the reason', async (t) => {
  const { path, handle } = await openFile(t)
  let seen = 0
  const writing = writePieces(handle, 0, Readable.from([1, 2, 3].map(() => Buffer.alloc(600 * KIB, 1))), () => {
    if (++seen === 2) throw new Error('too large')
  })
  await t.rejects(writing, /too large/)
  t.equal(readFileSync(path).length, 600 * KIB)
})

t.test('a write that fails ends the upload with its error', async (t) => {
  const { path } = await openFile(t)
  const readOnly = await open(path, 'r')
  t.teardown(() => readOnly.close())
  const pieces = Readable.from([1, 2, 3].map(() => Buffer.alloc(600 * KIB)))
  await t.rejects(writePieces(readOnly, 0, pieces, () => {}), { code: 'EBADF' })
})
