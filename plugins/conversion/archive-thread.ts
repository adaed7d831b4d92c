import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parentPort } from 'node:worker_threads'
import yazl from 'yazl'
import { type Archive, type Entry, readVerified } from '../../core/archives/archive.ts'
import { formatOf } from '../../core/archives/formats.ts'
import { ArchiveError, Budget, DEFAULT_LIMITS, UNWATCHED } from '../../core/archives/limits.ts'
import { withSource } from '../../core/archives/source.ts'
import { asArchiveError } from '../../core/archives/unpack.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { PathRefusedError, safeRelativePath } from '../../core/files/safe-path.ts'
import type { ArchiveJob, ArchiveResult, Member } from './protocol.ts'

/** Limits with a timeout of hours, because writes wait for the disk. */
const LIMITS = { ...DEFAULT_LIMITS, timeoutMs: 6 * 3_600_000 }
/** The date that TorrentZip uses, so that equal files make equal archives. */
const PACKED_AT = new Date(1996, 11, 24, 23, 32)
const PACKED_MODE = 0o100644
const COMPRESSION_LEVEL = 9
/** The size from which sizes may need 64 bits, even if deflate makes content longer. */
const ZIP64_BYTES = 0xf000_0000

async function openArchive (path: string, use: (archive: Archive) => Promise<Member[]>): Promise<Member[]> {
  return await withSource(path, async (source) => {
    const format = formatOf(path)
    if (format.kind !== 'archive') throw new ArchiveError('it is not an archive')
    return await use(await format.open(source, new Budget(source.size, LIMITS, UNWATCHED)))
  })
}

async function list (archive: Archive): Promise<Member[]> {
  const members = (await archive.list()).map(({ name, size }) => ({ name: safeRelativePath(name), size }))
  if (members.length === 0) throw new ArchiveError('there is no file in it')
  return members
}

async function digestAll (archive: Archive): Promise<Member[]> {
  const members: Member[] = []
  for await (const entry of archive.entries()) {
    const hash = createHash('sha1')
    let size = 0
    for await (const piece of readVerified(entry)) {
      hash.update(piece)
      size += piece.length
    }
    members.push({ name: safeRelativePath(entry.name), size, sha1: hash.digest('hex') })
  }
  return members
}

async function unpackEntry (entry: Entry, folder: string): Promise<Member> {
  const { name, size } = entry
  const path = safeRelativePath(name)
  const target = join(folder, path)
  await mkdir(dirname(target), { recursive: true })
  const handle = await open(target, 'wx')
  try {
    let written = 0
    for await (const piece of readVerified(entry)) {
      written += piece.length
      if (written > size) throw new ArchiveError(`member '${name}' is longer than ${size} bytes`)
      await handle.writeFile(piece)
    }
    await handle.sync()
    return { name: path, size: written }
  } finally {
    await handle.close()
  }
}

async function unpack (archive: Archive, folder: string): Promise<Member[]> {
  const members: Member[] = []
  for await (const entry of archive.entries()) members.push(await unpackEntry(entry, folder))
  return members
}

const compareLower = (a: string, b: string) => a.toLowerCase() < b.toLowerCase() ? -1 : 1

async function pack ({ files, archive }: Extract<ArchiveJob, { kind: 'pack' }>): Promise<Member[]> {
  const zip = new yazl.ZipFile()
  const sizes: Member[] = []
  for (const { path, name } of files.toSorted((a, b) => compareLower(a.name, b.name))) {
    const handle = await open(path)
    const { size } = await handle.stat().finally(() => handle.close())
    sizes.push({ name, size })
    zip.addFile(path, name, {
      mtime: PACKED_AT,
      forceDosTimestamp: true,
      mode: PACKED_MODE,
      compressionLevel: COMPRESSION_LEVEL,
      forceZip64Format: size > ZIP64_BYTES
    })
  }
  zip.end()
  const failed = Promise.withResolvers<never>()
  zip.on('error', failed.reject)
  await Promise.race([pipeline(zip.outputStream, createWriteStream(archive, { flags: 'wx', flush: true })), failed.promise])
  return sizes
}

async function work (job: ArchiveJob): Promise<Member[]> {
  switch (job.kind) {
    case 'list': return await openArchive(job.archive, list)
    case 'digest': return await openArchive(job.archive, digestAll)
    case 'unpack': return await openArchive(job.archive, (archive) => unpack(archive, job.folder))
    case 'pack': return await pack(job)
  }
}

async function run (job: ArchiveJob): Promise<ArchiveResult> {
  try {
    return { members: await work(job) }
  } catch (err) {
    const failure = asArchiveError(err)
    if (failure instanceof ArchiveError || failure instanceof PathRefusedError) return { refused: failure.message }
    if (errorCode(err) === 'EEXIST') return { refused: 'two files in it have the same name' }
    throw err
  }
}

parentPort?.on('message', (job: ArchiveJob) => { void run(job).then((result) => { parentPort?.postMessage(result) }) })
