import type { ArchiveMember } from '../../core/archives/types.ts'
import { hashLargest, hashMembers, type Archive } from '../../core/archives/archive.ts'
import { CHD_HEADER_BYTES, parseChdHeader } from './chd-header.ts'
import { Digest, hashBytes } from '../../core/archives/digest.ts'
import { formatOf } from '../../core/archives/formats.ts'
import { ArchiveError, Budget, CancelledError, type Watch } from '../../core/archives/limits.ts'
import type { ContentCache } from './content-cache.ts'
import { digestSource, readSmall } from './digest-source.ts'
import { readUpTo, withSource, type Path, type Source } from '../../core/archives/source.ts'
import { EMPTY_HASHES } from '../../core/archives/types.ts'
import { type FileHashes, type GroupHashes, type HashSettings } from './hash-types.ts'
import { asArchiveError, unpack } from '../../core/archives/unpack.ts'

/** A file to hash. With `raw`, the reason, its content is not read again. */
export interface FileRequest {
  path: Path
  raw?: string
}

interface FileResult {
  hashes: FileHashes
  /** The running hash of a group after this file; null if the file has no readable content. */
  running: Digest | null
}

/**
 * Hashes one file.
 *
 * @param contentCache caches the content that was read, if the content is small
 * @throws CancelledError, or the error of opening or reading the file.
 */
export async function hashFile (
  request: FileRequest, settings: HashSettings, watch: Watch, contentCache: ContentCache | null = null
): Promise<FileHashes> {
  return withSource(request.path, async (source) => {
    const small = request.raw === undefined && formatOf(request.path).kind === 'plain' ? readSmall(source) : null
    if (small === null) return (await hashSource(request, source, null, { settings, watch, contentCache })).hashes
    contentCache?.setBytes(small)
    return { ...hashBytes(small), chd_sha1_hash: chdSha1(request, source), archive_members: null }
  })
}

/**
 * Hashes files one by one and all of them together; stores the error of a file that cannot be read. @throws
 * CancelledError
 */
export async function hashGroup (
  requests: readonly FileRequest[], settings: HashSettings, watch: Watch, onFile: (index: number) => void
): Promise<GroupHashes> {
  const files: GroupHashes['files'] = []
  let running: Digest | null = null
  let isWhole = requests.length > 0
  for (const [index, request] of requests.entries()) {
    onFile(index)
    try {
      const before: Digest | null = running
      const outcome: FileResult = await withSource(request.path, (source) => {
        return hashSource(request, source, before, { settings, watch, contentCache: null })
      })
      files.push(outcome.hashes)
      running = outcome.running
      isWhole &&= running !== null
    } catch (error) {
      if (!(error instanceof Error) || error instanceof CancelledError) throw error
      files.push(error)
      isWhole = false
    }
  }
  return { files, combined: isWhole && running ? running.hashes() : EMPTY_HASHES }
}

/** Settings of hashing. `contentCache` caches the content that was read, if the content is small. */
interface HashOptions { settings: HashSettings, watch: Watch, contentCache: ContentCache | null }

/** @param before the running hash of a group before this file; null for no group */
async function hashSource (
  request: FileRequest, source: Source, before: Digest | null, { settings, watch, contentCache }: HashOptions
): Promise<FileResult> {
  const format = formatOf(request.path)
  if (request.raw !== undefined && format.kind === 'compressed') return withoutContent(request.raw)
  if (request.raw !== undefined || format.kind === 'plain') return hashBytesOf(request, source, watch, before)
  const budget = new Budget(source.size, settings.limits, watch)
  try {
    return format.kind === 'archive'
      ? await hashArchive(await format.open(source, budget), settings, before, contentCache)
      : await hashUnpacked(unpack(format.compression, source, budget), before)
  } catch (error) {
    const failure = asArchiveError(error)
    if (!(failure instanceof ArchiveError)) throw failure
    if (format.kind === 'archive') return hashBytesOf({ ...request, raw: failure.message }, source, watch, before)
    return withoutContent(failure.message)
  }
}

function withoutContent (warning: string): FileResult {
  return { hashes: { ...EMPTY_HASHES, chd_sha1_hash: null, archive_members: null, warning }, running: null }
}

async function hashArchive (
  archive: Archive, settings: HashSettings, before: Digest | null, contentCache: ContentCache | null
): Promise<FileResult> {
  if (settings.members === 'all') {
    const { total, members } = await hashMembers(
      archive, settings.excluded, (entry) => contentCache?.watch(entry) ?? entry
    )
    return toOutcome(total, null, members)
  }
  const running = before?.copy() ?? null
  return toOutcome(await hashLargest(archive, settings.excluded, running), running)
}

async function hashUnpacked (pieces: AsyncIterable<Uint8Array>, before: Digest | null): Promise<FileResult> {
  const own = new Digest()
  const running = before?.copy() ?? null
  for await (const piece of pieces) {
    own.update(piece)
    running?.update(piece)
  }
  return toOutcome(own, running)
}

async function hashBytesOf (
  request: FileRequest, source: Source, watch: Watch, before: Digest | null
): Promise<FileResult> {
  watch.setDeadline(0)
  const own = new Digest()
  const running = before?.copy() ?? null
  await digestSource(source, running ? [own, running] : [own], watch)
  const { hashes, ...rest } = toOutcome(own, running)
  const warning = request.raw === undefined ? {} : { warning: request.raw }
  return { hashes: { ...hashes, chd_sha1_hash: chdSha1(request, source), ...warning }, ...rest }
}

/** Returns the hashes of a file. The hash of the first file of a group becomes the running hash. */
function toOutcome (own: Digest, running: Digest | null, members: ArchiveMember[] | null = null): FileResult {
  return { hashes: { ...own.hashes(), chd_sha1_hash: null, archive_members: members }, running: running ?? own }
}

/** Returns the SHA-1 that a CHD of version 5 stores of its content and metadata; null for any other file. */
function chdSha1 ({ path, raw }: FileRequest, source: Source): string | null {
  const isChd = Buffer.from(path.slice(-4)).toString('latin1').toLowerCase() === '.chd'
  return isChd && raw === undefined ? parseChdHeader(readUpTo(source, 0, CHD_HEADER_BYTES))?.sha1 ?? null : null
}
