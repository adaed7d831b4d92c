import { appendFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { fingerprintOf } from '../../../plugins/resources/file-reply.ts'
import { createFileStream, readFile } from '../../../plugins/resources/file-stream.ts'
import { createChecksums } from '../../../plugins/roms/downloads/checksums.ts'
import { type Zip, type ZipEntry, createZip } from '../../../plugins/roms/downloads/zip.ts'
import { fileContent, textContent } from '../../../plugins/roms/downloads/zip-content.ts'
import { PYTHON, python } from './python.ts'
import { openZip, whole } from './zip-support.ts'

const GIB = 2 ** 30

/** Start and end of each read of a file. */
type Reads = [start: number, end: number][]

function countReads (handle: FileHandle, reads: Reads): FileHandle {
  const read = handle.read.bind(handle) as (...args: [Buffer, number, number, number]) => ReturnType<FileHandle['read']>
  handle.read = (async (...args: [Buffer, number, number, number]) => {
    reads.push([args[3], args[3] + args[2]])
    return await read(...args)
  }) as FileHandle['read']
  return handle
}

/** Creates an entry of a file on disk and records every read of the file. */
async function fileEntry (
  path: string, { name = 'file', crc = null, reads = [], checksums = createChecksums() }:
  { name?: string, crc?: number | null, reads?: Reads, checksums?: ReturnType<typeof createChecksums> } = {}
): Promise<ZipEntry> {
  const handle = await open(path)
  const { size, mtime: modified } = await handle.stat()
  const fingerprint = await fingerprintOf(handle)
  await handle.close()
  const file = { size, modified, fingerprint, crc, open: async () => countReads(await open(path), reads) }
  return { name, content: fileContent(path, file, { fingerprintOf, readFile, checksums }) }
}

/** Reads a zip with an independent program, which verifies every checksum: name → content. */
async function unzip (bytes: Buffer): Promise<Record<string, string>> {
  const zip = await openZip(bytes)
  const found: Record<string, string> = {}
  for await (const entry of zip.eachEntry()) {
    const stream = await zip.openReadStreamPromise(entry)
    const content = await buffer(stream)
    if (crc32(content) !== entry.crc32) throw new Error(`${entry.fileName} has another checksum`)
    found[entry.fileName] = content.toString()
  }
  return found
}

async function mixedZip (t: Test): Promise<Zip> {
  const folder = t.testdir({ a: 'aaaa', b: '', c: 'x'.repeat(700_000) })
  for (const name of ['a', 'b', 'c']) utimesSync(join(folder, name), 1_700_000_000, 1_700_000_000)
  return createZip([
    await fileEntry(join(folder, 'a'), { name: 'known/a.bin', crc: crc32('aaaa') }),
    await fileEntry(join(folder, 'b'), { name: 'ü 🎮' }),
    await fileEntry(join(folder, 'c'), { name: 'c' }),
    { name: 'list.m3u', content: textContent('a\nb') }
  ])
}

t.test('a zip has the announced size, opens in other programs, and is reproducible', async (t) => {
  const zip = await mixedZip(t)
  const bytes = await whole(zip)
  t.equal(bytes.length, zip.size)
  t.same(await unzip(bytes), { 'known/a.bin': 'aaaa', 'ü 🎮': '', c: 'x'.repeat(700_000), 'list.m3u': 'a\nb' })
  t.ok((await whole(zip)).equals(bytes))
  t.equal(bytes.readUInt16LE(6) & 8, 0, 'a known checksum stands before its content')
  t.equal(bytes.readUInt32LE(14), crc32('aaaa'))
  const file = join(t.testdir(), 'a.zip')
  writeFileSync(file, bytes)
  if (PYTHON) t.equal(python('print(zipfile.ZipFile(sys.argv[1]).testzip())', file), 'None')
})

t.test('every range of a zip equals that part of the whole', async (t) => {
  const bytes = await whole(await mixedZip(t))
  // A second zip, whose checksums are not cached.
  const zip = await mixedZip(t)
  const edges = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: zip.size - 700, max: zip.size }),
    fc.integer({ min: 0, max: zip.size }))
  await fc.assert(fc.asyncProperty(edges, edges, async (one, other) => {
    const [start, end] = [Math.min(one, other), Math.max(one, other)]
    return (await buffer(zip.read(start, end))).equals(bytes.subarray(start, end))
  }), { numRuns: 25 })
})

t.test('an unknown checksum is computed once, and only for a part that contains it', async (t) => {
  const folder = t.testdir({ a: 'a'.repeat(1000), b: 'bbbb' })
  const reads: Reads = []
  const options = { reads, checksums: createChecksums() }
  const bytes = await whole(createZip([await fileEntry(join(folder, 'a')), await fileEntry(join(folder, 'b'))]))
  const zip = createZip([await fileEntry(join(folder, 'a'), options), await fileEntry(join(folder, 'b'))])
  t.ok((await buffer(zip.read(0, 100))).equals(bytes.subarray(0, 100)))
  t.same(reads, [[0, 66]], 'no more than its part of the file')
  reads.length = 0
  for (let i = 0; i < 3; i++) t.ok((await buffer(zip.read(1040, zip.size))).equals(bytes.subarray(1040)))
  t.same(reads, [[0, 1000]])

  reads.length = 0
  const again = createZip([await fileEntry(join(folder, 'a'), { reads })])
  await whole(again)
  t.same(reads, [[0, 1000]], 'whoever sends it all need not read it twice')
})

t.test('a file that changed or disappeared fails the zip instead of ending it early', async (t) => {
  const folder = t.testdir({ grown: 'aaaa', touched: 'aaaa', short: 'aaaa' })
  const at = (name: string) => join(folder, name)
  const grown = createZip([await fileEntry(at('grown'))])
  appendFileSync(at('grown'), 'a')
  await t.rejects(whole(grown), /grown" was changed/)
  const touched = createZip([await fileEntry(at('touched'))])
  utimesSync(at('touched'), 1, 1)
  await t.rejects(whole(touched), /touched" was changed/)
  writeFileSync(at('gone'), 'aaaa')
  const gone = createZip([await fileEntry(at('gone'))])
  rmSync(at('gone'))
  await t.rejects(whole(gone), /ENOENT/)
})

t.test('the etag changes with any member and with nothing else', async (t) => {
  const folder = t.testdir({ a: 'aaaa', b: 'bbbb' })
  const [a, b] = [join(folder, 'a'), join(folder, 'b')]
  const tag = async (names = ['a', 'b'], text = 'list') => createZip([
    await fileEntry(a, { name: names[0] ?? '' }), await fileEntry(b, { name: names[1] ?? '' }),
    { name: 'l', content: textContent(text) }
  ]).etag
  const before = await tag()
  t.equal(await tag(), before)
  t.match(before, /^"[0-9a-f]+"$/)
  t.not(await tag(['a', 'c']), before, 'another name')
  t.not(await tag(['a', 'b'], 'other'), before, 'other text')
  utimesSync(b, 5, 5)
  const touched = await tag()
  t.not(touched, before, 'another time')
  writeFileSync(a, 'cccc')
  t.not(await tag(), touched, 'other content')
})

t.test('a part beyond 4 GiB costs only its size, and other programs find every member', async (t) => {
  const folder = t.testdir({ big: '', last: 'the last' })
  truncateSync(join(folder, 'big'), 6 * GIB)
  const big: Reads = []
  const last: Reads = []
  for (const crc of [0x12345678, null]) {
    const checksums = createChecksums()
    checksums.set(`${join(folder, 'big')}\0${await fingerprintOfFile(join(folder, 'big'))}`, 0x12345678)
    const zip = createZip([
      await fileEntry(join(folder, 'big'), { name: 'big', crc, reads: big, checksums }),
      await fileEntry(join(folder, 'last'), { name: 'last', crc: crc32('the last'), reads: last }),
      { name: 'text', content: textContent('after it') }
    ])
    t.ok(zip.size > 6 * GIB && zip.size < 6 * GIB + 1000)
    const [start, tail] = [await buffer(zip.read(0, 60)), await buffer(zip.read(6 * GIB, zip.size))]
    t.same([...big.splice(0), ...last.splice(0)].map(([from, to]) => to - from <= 100), [true, true, true])
    t.equal((await buffer(zip.read(3 * GIB, 3 * GIB + 10))).length, 10)
    t.same(big.splice(0).map(([from, to]) => to - from), [10])
    if (!PYTHON) continue
    const path = join(folder, `${crc}.zip`)
    const file = await open(path, 'w')
    await file.write(start, 0, start.length, 0)
    await file.write(tail, 0, tail.length, 6 * GIB)
    await file.close()
    t.equal(python('z = zipfile.ZipFile(sys.argv[1])\nprint([i.file_size for i in z.infolist()], z.read("last"), z.read("text"))',
      path), `[${6 * GIB}, 8, 8] b'the last' b'after it'`)
  }
})

async function fingerprintOfFile (path: string): Promise<string> {
  const handle = await open(path)
  try {
    return await fingerprintOf(handle)
  } finally {
    await handle.close()
  }
}

t.test('a file that ends early fails its stream', async (t) => {
  const folder = t.testdir({ a: 'aaaa' })
  const handle = await open(join(folder, 'a'))
  await t.rejects(buffer(createFileStream(handle, 0, 5)), /1 bytes early/)
  t.equal(handle.fd, -1)
})
