import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip, createGzip } from 'node:zlib'
import { type Static, Type } from '@sinclair/typebox'
import { ArchiveError } from '../../../core/archives/limits.ts'
import { requireFreeSpace } from '../../../core/files/free-space.ts'
import { errorCode, ifPresent } from '../../../core/files/fs-error.ts'
import { isPresent } from '../../../core/files/safe-path.ts'
import { parseText } from './manifest.ts'

const READ_BYTES = 256 * 1024

/** The reference to a file whose content lies beside the archive, and is shared by all archives there. */
const PartSchema = Type.Object({ sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }), size: Type.Integer({ minimum: 0 }) })
export type Part = Static<typeof PartSchema>

/** Returns the folder beside archives that they all share. */
export const partsFolder = (archive: string): string => join(dirname(archive), 'svc-parts')

const partPath = (folder: string, { sha256 }: Pick<Part, 'sha256'>): string => join(folder, sha256.slice(0, 2), `${sha256}.gz`)

/** @throws ArchiveError */
export const readPart = (text: string): Part => parseText(PartSchema, text, 'reference to a part')

/** Reads a file from its start, any number of times. */
const readFrom = (handle: FileHandle) =>
  handle.createReadStream({ autoClose: false, start: 0, highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>

function createCounter () {
  const hash = createHash('sha256')
  let size = 0
  return {
    async * count (content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of content) {
        hash.update(chunk)
        size += chunk.length
        yield chunk
      }
    },
    end: (): Part => ({ sha256: hash.digest('hex'), size })
  }
}

async function measure (handle: FileHandle): Promise<Part> {
  const counter = createCounter()
  for await (const _chunk of counter.count(readFrom(handle))) { /* counted */ }
  return counter.end()
}

/** Writes a new content under its hash. */
async function write (folder: string, handle: FileHandle, signal: AbortSignal): Promise<Part> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await requireFreeSpace(folder, (await handle.stat()).size)
  const temporary = join(folder, `.${randomUUID()}.tmp`)
  try {
    const counter = createCounter()
    await pipeline(counter.count(readFrom(handle)), createGzip({ level: constants.Z_BEST_SPEED }),
      createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true }), { signal })
    const part = counter.end()
    await mkdir(dirname(partPath(folder, part)), { recursive: true, mode: 0o700 })
    await rename(temporary, partPath(folder, part))
    return part
  } catch (err) {
    await rm(temporary, { force: true })
    throw err
  }
}

/** Stores a file's content in the folder, unless it is already there. */
export async function storePart (folder: string, handle: FileHandle, signal: AbortSignal): Promise<Part> {
  const part = await measure(handle)
  const path = partPath(folder, part)
  if (!await isPresent(path)) return await write(folder, handle, signal)
  // The cleanup treats recently used parts as in use.
  await utimes(path, new Date(), new Date())
  return part
}

/** Yields the content of a part. @throws ArchiveError if it is missing or changed */
export async function * openPart (folder: string, part: Part, name: string): AsyncGenerator<Buffer> {
  const counter = createCounter()
  const source = createReadStream(partPath(folder, part))
  const content = createGunzip()
  pipeline(source, content).catch(() => { /* the reader receives the error */ })
  try {
    yield * counter.count(content as AsyncIterable<Buffer>)
  } catch (err) {
    if (errorCode(err) !== 'ENOENT' && !errorCode(err).startsWith('Z_')) throw err
    throw new ArchiveError(errorCode(err) === 'ENOENT'
      ? `the content of ${name} is missing in ${folder}, the folder beside this file that it needs`
      : `the content of ${name} in ${folder} is damaged`)
  }
  if (counter.end().sha256 !== part.sha256) throw new ArchiveError(`the content of ${name} in ${folder} is damaged`)
}

/** Deletes parts that no archive needs, except recent ones, which a running backup may use. @returns their number */
export async function dropParts (folder: string, needed: ReadonlySet<string>, usedBefore: Date): Promise<number> {
  const entries = await ifPresent(readdir(folder, { recursive: true, withFileTypes: true })) ?? []
  let dropped = 0
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    if (needed.has(entry.name.replace(/\.gz$/, '')) || (await stat(path)).mtime >= usedBefore) continue
    await rm(path, { force: true })
    dropped++
  }
  return dropped
}
