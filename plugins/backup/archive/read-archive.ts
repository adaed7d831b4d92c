import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ArchiveError, Budget } from '../../../core/archives/limits.ts'
import { openTar } from '../../../core/archives/tar.ts'
import { StartError } from '../../../core/errors.ts'
import { errorCode } from '../../../core/files/fs-error.ts'
import { safeRelativePath } from '../../../core/files/safe-path.ts'
import {
  ENDING, type ArchiveEnd, FILES, HASHES, MANIFEST, type Manifest, PARTS, SECRETS, TABLES, readEnding, readManifest
} from './manifest.ts'
import { type Part, openPart, partsFolder, readPart } from './archive-parts.ts'
import { hashLine } from './write-archive.ts'

/** The longest text of the archive itself: manifests, lists, sealed secrets. */
const TEXT_MAX_BYTES = 16 * 1024 ** 2
/** The user's own archive may have any size. */
const LIMITS = {
  entries: Infinity, totalBytes: Infinity, ratio: Infinity, ratioFreeBytes: Infinity, timeoutMs: Infinity
}
const KNOWN = [TABLES, FILES, PARTS, SECRETS]

type Content = AsyncIterable<Uint8Array>
type Chunks = Content | Iterable<Uint8Array>

/** A visitor of an archive's entries. Content without a handler is skipped. */
export interface ArchiveVisitor {
  manifest? (manifest: Manifest): Promise<void>
  /** Receives whole rows of a table, in the format of COPY. @returns their number */
  rows? (table: string, content: Content): Promise<number>
  /** Receives a file of the data directory. */
  file? (path: string, content: Content): Promise<void>
  /** Receives a file whose content lies beside the archive. Without this method the reader reads that content. */
  part? (part: Part): void
  secret? (name: string, content: Buffer): void
}

export interface WholeArchive { manifest: Manifest, ending: ArchiveEnd }

/** @throws ArchiveError if it is larger than any text of a backup */
async function collect (content: Chunks, size: number): Promise<Buffer> {
  if (size > TEXT_MAX_BYTES) throw new ArchiveError('one of its lists is longer than a list of a backup can be')
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Collects the hashes of entries since the last list, for comparison with the next list. */
function createCheck () {
  let lines: string[] = []
  return {
    async * hashed (name: string, size: number, content: Chunks): Content {
      const hash = createHash('sha256')
      for await (const chunk of content) {
        hash.update(chunk)
        yield chunk
      }
      lines.push(hashLine(hash.digest('hex'), size, name))
    },
    /** @throws ArchiveError with the name of a changed entry */
    compare (list: string): void {
      const expected = new Set(list.split(/(?<=\n)/).filter((line) => line !== ''))
      const wrong = lines.find((line) => !expected.has(line))
      if (wrong !== undefined) {
        throw new ArchiveError(`it is damaged: ${(JSON.parse(wrong) as string[])[2] ?? ''} has a wrong hash`)
      }
      if (expected.size !== lines.length) throw new ArchiveError('it is damaged: entries are missing')
      lines = []
    },
    isDone: () => lines.length === 0
  }
}

/** @throws ArchiveError for a path that leads out of the data directory */
function readPath (name: string): string {
  try {
    return safeRelativePath(name)
  } catch {
    throw new ArchiveError(`${JSON.stringify(name)} is not a valid path in a backup`)
  }
}

type ArchiveCount = Pick<ArchiveEnd, 'entries' | 'files' | 'bytes'>

function compareEnding (found: ArchiveCount, rows: ReadonlyMap<string, number> | null, ending: ArchiveEnd): void {
  const wrong = (['entries', 'files', 'bytes'] as const).find((key) => found[key] !== ending[key])
  if (wrong !== undefined) throw new ArchiveError(`it is damaged: it contains ${found[wrong]} ${wrong} instead of ${ending[wrong]}`)
  if (rows === null) return
  for (const [table, count] of Object.entries(ending.rows)) {
    if ((rows.get(table) ?? 0) !== count) throw new ArchiveError(`it contains ${rows.get(table) ?? 0} rows of ${table} instead of ${count}`)
  }
}

/** Reads the entries of an archive in sequence, and checks at the end that the archive is complete. */
function createReader (visitor: ArchiveVisitor, folder: string) {
  const check = createCheck()
  const rows = new Map<string, number>()
  const found = { entries: 0, files: 0, bytes: 0 }
  let manifest: Manifest | null = null
  let ending: ArchiveEnd | null = null

  async function readManifestEntry (name: string, size: number, content: Content): Promise<void> {
    if (name !== MANIFEST) throw new ArchiveError('it does not begin with a manifest')
    manifest = readManifest((await collect(content, size)).toString())
    await visitor.manifest?.(manifest)
  }

  async function readPartFile (path: string, part: Part): Promise<void> {
    found.files++
    found.bytes += part.size
    if (visitor.part !== undefined) return visitor.part(part)
    const content = openPart(folder, part, path)
    await visitor.file?.(path, content)
    // Content without a handler is read all the same.
    for await (const _chunk of content) { /* skipped */ }
  }

  async function readPartEntry (name: string, size: number, content: Content): Promise<void> {
    const kind = KNOWN.find((prefix) => name.startsWith(prefix))
    const rest = name.slice(kind?.length ?? 0)
    if (kind === TABLES) {
      const table = rest.slice(0, rest.indexOf('/'))
      if (visitor.rows !== undefined) rows.set(table, (rows.get(table) ?? 0) + await visitor.rows(table, content))
    } else if (kind === FILES) {
      found.files++
      found.bytes += size
      await visitor.file?.(readPath(rest), content)
    } else if (kind === PARTS) {
      await readPartFile(readPath(rest), readPart((await collect(content, size)).toString()))
    } else if (kind === SECRETS) {
      visitor.secret?.(rest, await collect(content, size))
    } else {
      throw new ArchiveError(`${JSON.stringify(name)} is not a part of a backup`)
    }
    // Content without a handler is hashed all the same.
    for await (const _chunk of content) { /* skipped */ }
  }

  return {
    async readEntry (name: string, size: number, content: Chunks): Promise<void> {
      if (ending !== null) throw new ArchiveError('it is damaged: there is data after its end')
      if (name === ENDING) {
        if (!check.isDone()) throw new ArchiveError('it is damaged: a list of hashes is missing')
        ending = readEnding((await collect(content, size)).toString())
        return
      }
      found.entries++
      if (name.startsWith(HASHES)) check.compare((await collect(content, size)).toString())
      else await (manifest === null ? readManifestEntry : readPartEntry)(name, size, check.hashed(name, size, content))
    },

    /** @throws ArchiveError if an entry is missing */
    end (): WholeArchive {
      if (manifest === null) throw new ArchiveError('it is empty')
      if (ending === null) throw new ArchiveError('it is incomplete: its end is missing')
      compareEnding(found, visitor.rows === undefined ? null : rows, ending)
      return { manifest, ending }
    }
  }
}

interface Reading { visitor: ArchiveVisitor, onBytes: (bytes: number) => void, signal: AbortSignal }

async function sizeOf (path: string): Promise<number> {
  const stats = await stat(path).catch((err: unknown) => {
    if (errorCode(err) !== 'ENOENT') throw err
    throw new StartError(`There is no file ${path}. Give the path of a backup, as svc backup printed it.`)
  })
  return stats.size
}

async function readWhole (path: string, { visitor, onBytes, signal }: Reading): Promise<WholeArchive> {
  const watch = { isCancelled: () => signal.aborted, setDeadline: () => undefined, reserveMemory: () => undefined }
  const budget = new Budget(await sizeOf(path), LIMITS, watch)
  const open = () => {
    const source = createReadStream(path)
    source.on('data', (chunk) => { onBytes(chunk.length) })
    return pipeline(source, createGunzip(), () => { /* the reader receives the error */ })
  }
  const reader = createReader(visitor, partsFolder(path))
  for await (const { name, size, content } of openTar(open, budget).entries()) {
    signal.throwIfAborted()
    await reader.readEntry(name, size, content())
  }
  return reader.end()
}

const CODES = new Map([
  ['Z_BUF_ERROR', 'it is incomplete'], ['Z_DATA_ERROR', 'it is damaged, or not an archive'],
  ['EISDIR', 'it is a folder'], ['EACCES', 'this user may not read it']
])

/** Messages of tar-stream, which have no codes. */
const TAR_ERROR = /^(Invalid tar header|Unexpected end of data)/

/** Returns the reason why an archive cannot be read; null for an error with another cause. */
function explain (err: unknown): string | null {
  if (err instanceof ArchiveError) return err.message
  if (!(err instanceof Error)) return null
  return CODES.get(errorCode(err)) ?? (TAR_ERROR.test(err.message) ? 'it is damaged, or contains no tar archive' : null)
}

/**
 * Reads an archive from the first byte to the last and compares every entry with its hash.
 *
 * @throws StartError with the reason why the archive cannot be used
 */
export async function readArchive (
  path: string, visitor: ArchiveVisitor, onBytes: Reading['onBytes'] = () => undefined, signal = new AbortController().signal
): Promise<WholeArchive> {
  try {
    return await readWhole(path, { visitor, onBytes, signal })
  } catch (err) {
    const reason = signal.aborted ? null : explain(err)
    if (reason === null) throw err
    throw new StartError(`${path} is not a complete backup: ${reason}. Use another backup, or copy this one again.`, { cause: err })
  }
}
