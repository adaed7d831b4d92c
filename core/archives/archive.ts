import { crc32 } from 'node:zlib'
import { Digest } from './digest.ts'
import { ArchiveError } from './limits.ts'
import type { ArchiveMember, Exclusions } from './types.ts'

/** A regular file in an archive. */
export interface Listing {
  /** Position among the regular files, the same each time the archive is read. */
  readonly index: number
  readonly name: string
  /** Bytes, as the archive claims. */
  readonly size: number
}

export interface Entry extends Listing {
  /** The CRC32 of the content that the archive stores; null if it stores none. */
  readonly crc: number | null
  /**
   * Returns the content. Read it before the next entry is requested, or not at all. Pieces may be overwritten later.
   */
  content (): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** An open archive. Its reader counts every entry and byte against the archive's budget. */
export interface Archive {
  list (): Promise<Listing[]>
  /** Yields all regular files in the order that is cheapest to read, or only those whose index is wanted. */
  entries (wanted?: ReadonlySet<number>): AsyncIterable<Entry>
}

/**
 * The most bytes of members held in memory until the members that sort before them are read. tar and 7z store members
 * in any order and can only be read forward. A member that is out of order is held, or the archive is read again.
 */
const HELD_BYTES = 64 * 1024 ** 2

/** Receives each member before it is read, and returns the member to read instead. */
type MemberWatcher = (entry: Entry) => Entry

interface Member {
  readonly index: number
  readonly listed: ArchiveMember
}

/**
 * Hashes every member and, in ASCII order of the names, all of them together.
 * @throws ArchiveError if the archive is empty or a member differs from its description in the archive.
 */
export async function hashMembers (archive: Archive, excluded: Exclusions, watch: MemberWatcher = (entry) => entry) {
  const members: Member[] = []
  let total = new Digest()
  let last: string | null = null
  let isSorted = true
  for await (const entry of archive.entries()) {
    if (isExcluded(entry.name, excluded)) continue
    isSorted &&= last === null || compareNames(last, entry.name) <= 0
    const own = new Digest()
    // An archive of a single member, the most common case, needs only one digest.
    if (members.length === 1) total = total.copy()
    const digests = isSorted && members.length > 0 ? [own, total] : [own]
    await digestEntry(watch(entry), digests)
    if (members.length === 0) total = own
    members.push({ index: entry.index, listed: { name: entry.name, size: own.size, ...own.hashes() } })
    last = entry.name
  }
  if (members.length === 0) throw new ArchiveError('there is no file in it')
  members.sort((a, b) => compareNames(a.listed.name, b.listed.name) || a.index - b.index)
  if (!isSorted) total = await hashSorted(archive, members)
  return { total, members: members.map((member) => member.listed) }
}

/**
 * Hashes the largest member alone, or the first of several equally large ones.
 * @param extra gets the same bytes.
 * @throws ArchiveError as `hashMembers` does.
 */
export async function hashLargest (archive: Archive, excluded: Exclusions, extra: Digest | null): Promise<Digest> {
  const listed = (await archive.list()).filter((member) => !isExcluded(member.name, excluded))
  listed.sort((a, b) => b.size - a.size || a.index - b.index)
  const [largest] = listed
  if (!largest) throw new ArchiveError('there is no file in it')
  const own = new Digest()
  for await (const entry of archive.entries(new Set([largest.index]))) {
    await digestEntry(entry, extra ? [own, extra] : [own])
  }
  return own
}

/** Reads the archive again, as often as necessary, and hashes its members in the given order. */
async function hashSorted (archive: Archive, order: readonly Member[]): Promise<Digest> {
  const total = new Digest()
  for (let from = 0; from < order.length;) {
    const pass = order.slice(from, endOfPass(order, from))
    await hashPass(archive, pass.map((member) => member.index), total)
    from += pass.length
  }
  return total
}

/**
 * Returns the end of the members that one pass can hash. A member stored before the previously hashed one is held until
 * its turn.
 */
function endOfPass (order: readonly Member[], from: number): number {
  let position = -1
  let held = 0
  for (let turn = from; turn < order.length; turn++) {
    const member = order[turn]
    if (!member) break
    if (member.index > position) position = member.index
    else held += member.listed.size
    if (held > HELD_BYTES) return turn
  }
  return order.length
}

async function hashPass (archive: Archive, turns: readonly number[], total: Digest): Promise<void> {
  const held = new Map<number, Uint8Array[]>()
  let turn = 0
  for await (const entry of archive.entries(new Set(turns))) {
    if (entry.index !== turns[turn]) {
      held.set(entry.index, await collect(entry))
      continue
    }
    await digestEntry(entry, [total])
    for (turn++; turn < turns.length; turn++) {
      const index = turns[turn] ?? -1
      const pieces = held.get(index)
      if (!pieces) break
      for (const piece of pieces) total.update(piece)
      held.delete(index)
    }
  }
  if (turn < turns.length) throw new ArchiveError('it changed while it was read')
}

async function collect (entry: Entry): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = []
  for await (const piece of entry.content()) pieces.push(Uint8Array.from(piece))
  return pieces
}

async function digestEntry (entry: Entry, digests: readonly Digest[]): Promise<void> {
  const [first] = digests
  if (!first) return
  const before = first.size
  for await (const piece of entry.content()) {
    for (const digest of digests) digest.update(piece)
  }
  requireDescribed(entry, first.size - before, before === 0 ? first.crc : null)
}

/** @throws ArchiveError if a member has another size or checksum than the archive says. @param crc null if unknown */
function requireDescribed ({ name, size: stated, crc: statedCrc }: Entry, size: number, crc: number | null): void {
  if (size !== stated) throw new ArchiveError(`member '${name}' has ${size} bytes instead of ${stated}`)
  if (crc !== null && statedCrc !== null && statedCrc !== crc) throw new ArchiveError(`member '${name}' has a wrong checksum`)
}

/**
 * Yields the content of a member, and then checks it.
 *
 * @throws ArchiveError after the last piece if the content differs from its description in the archive
 */
export async function * readVerified (entry: Entry): AsyncGenerator<Uint8Array> {
  let [size, crc] = [0, 0]
  for await (const piece of entry.content()) {
    size += piece.length
    crc = crc32(piece, crc)
    yield piece
  }
  requireDescribed(entry, size, crc)
}

/** Compares by code point, as sorting the UTF-8 bytes does. */
export function compareNames (a: string, b: string): number {
  if (a === b) return 0
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

export function isExcluded (path: string, { names = [], extensions = [] }: Exclusions): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const lower = name.toLowerCase()
  return names.some((rule) => typeof rule === 'string' ? rule === name : name.search(rule) !== -1) ||
    extensions.some((extension) => lower.endsWith(`.${extension.toLowerCase()}`))
}
