import { createReadStream } from 'node:fs'
import type { ArchiveLimits } from '../../../core/archives/types.ts'
import { type Entry, readVerified } from '../../../core/archives/archive.ts'
import { type OpenArchive, formatOf } from '../../../core/archives/formats.ts'
import { ArchiveError, Budget, type Watch } from '../../../core/archives/limits.ts'
import { type Source, withSource } from '../../../core/archives/source.ts'
import { asArchiveError } from '../../../core/archives/unpack.ts'
import { DAT_BYTES_MAX } from '../parse/dat-limits.ts'

/** A DAT on disk: a file, or a file in an archive. */
export interface DatMember {
  name: string
  chunks: AsyncIterable<Uint8Array>
}

const DAT_NAME = /\.(?:dat|xml)$/i
const ARCHIVE_NAME = /\.(?:zip|7z)$/i
/** Limits of an archive of DATs. A daily pack of No-Intro has some 300 DATs in 20 MiB, which unpack to 500 MiB. */
const LIMITS: ArchiveLimits = {
  entries: 10_000, totalBytes: 8 * DAT_BYTES_MAX, ratio: 200, ratioFreeBytes: 64 * 1024 ** 2, timeoutMs: 3_600_000
}

/** True if the name of a file is that of a DAT or of an archive with DATs. */
export const isDatName = (name: string): boolean => DAT_NAME.test(name) || ARCHIVE_NAME.test(name)

const createWatch = (signal: AbortSignal): Watch =>
  ({ isCancelled: () => signal.aborted, setDeadline: () => {}, reserveMemory: () => {} })

/**
 * Calls `use` for each DAT of a file: for the file, or for each DAT in an archive. Other files in an archive are
 * skipped.
 *
 * @param name the name of the file, which tells its format
 * @throws ArchiveError also for an archive without a DAT
 */
export async function readMembers (
  path: string, name: string, signal: AbortSignal, use: (member: DatMember) => Promise<void>
): Promise<void> {
  let hasDat = false
  const format = ARCHIVE_NAME.test(name) ? formatOf(name) : null
  if (format?.kind !== 'archive') return await use({ name, chunks: createReadStream(path) })
  await withSource(path, async (source) => {
    const budget = new Budget(source.size, LIMITS, createWatch(signal))
    for await (const entry of convertErrors(readEntries(source, format.open, budget))) {
      signal.throwIfAborted()
      if (!DAT_NAME.test(entry.name)) continue
      hasDat = true
      await use({ name: `${name}/${entry.name}`, chunks: copyPieces(convertErrors(readVerified(entry))) })
    }
  })
  if (!hasDat) throw new ArchiveError('the archive has no .dat or .xml file; archives within archives are not read')
}

async function * readEntries (source: Source, open: OpenArchive, budget: Budget): AsyncGenerator<Entry> {
  yield * (await open(source, budget)).entries()
}

/** Yields the same items. Errors of a library about broken data become errors of the archive. @throws ArchiveError */
async function * convertErrors<T> (items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield * items
  } catch (err) {
    throw asArchiveError(err)
  }
}

/** Copies pieces, because an archive may overwrite a piece when the next one is read. */
async function * copyPieces (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(piece)
}
