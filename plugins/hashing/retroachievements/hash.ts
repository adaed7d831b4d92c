import { isExcluded, type Archive } from '../../../core/archives/archive.ts'
import { formatOf } from '../../../core/archives/formats.ts'
import { ArchiveError, Budget, type Watch } from '../../../core/archives/limits.ts'
import { withSource, type Source } from '../../../core/archives/source.ts'
import type { HashSettings, RetroAchievementsHash } from '../hash-types.ts'
import { asArchiveError, unpack, type Compression } from '../../../core/archives/unpack.ts'
import type { ContentRule } from './cartridges.ts'
import { ruleOf } from './consoles.ts'
import { openDisc, readText, resolveBeside } from './images/images.ts'
import { isPlaylist, largestMember } from './known-hash.ts'
import { MemberReads, readsOf, readsOfBytes } from './images/file-reads.ts'
import { contentRuleOf, discRuleOf } from './rules.ts'
import { firstOfPlaylist } from '../disc-sheets.ts'

interface Hashing {
  readonly path: string
  readonly console: number
  readonly settings: HashSettings
  readonly watch: Watch
}

/**
 * Computes the hash of a file at RetroAchievements. @throws CancelledError, or the error of opening or reading the
 * file.
 */
export async function hashRetroAchievements (
  path: string, console: number, settings: HashSettings, watch: Watch
): Promise<RetroAchievementsHash> {
  return await toResult(() => hashPath({ path, console, settings, watch }))
}

/** Computes the hash of content in memory; null for a disc, whose tracks may be separate files. */
export async function hashContent (
  bytes: Buffer, path: string, console: number
): Promise<RetroAchievementsHash | null> {
  const rule = contentRuleOf(console, path)
  if (rule === null || isPlaylist(path) || ruleOf(console) === 'disc') return null
  return await toResult(() => rule(readsOfBytes(bytes)))
}

/** Turns an error of the content into a warning. */
async function toResult (make: () => Promise<string | null>): Promise<RetroAchievementsHash> {
  try {
    return { ra_hash: await make() }
  } catch (error) {
    const failure = asArchiveError(error)
    if (!(failure instanceof ArchiveError)) throw failure
    return { ra_hash: null, warning: failure.message }
  }
}

async function hashPath (hashing: Hashing): Promise<string | null> {
  const { path } = hashing
  return await withSource(path, async (source) => {
    if (!isPlaylist(path)) return await hashSource(hashing, source)
    const first = firstOfPlaylist(readText(source))
    if (first === null) return null
    const disc = { ...hashing, path: await resolveBeside(path, first) }
    // A playlist may name another one, even itself.
    return isPlaylist(disc.path) ? null : await withSource(disc.path, (own) => hashSource(disc, own))
  })
}

async function hashSource (hashing: Hashing, source: Source): Promise<string | null> {
  const { path, console, settings, watch } = hashing
  const budget = new Budget(source.size, settings.limits, watch)
  const format = formatOf(path)
  const rule = contentRuleOf(console, path)
  if (format.kind === 'plain') {
    return rule === null ? await hashDisc(hashing, source, budget) : await rule(readsOf(source, budget))
  }
  if (rule === null || ruleOf(console) === 'disc') return null
  return format.kind === 'archive'
    ? await hashMember(await format.open(source, budget), settings, rule)
    : await hashUnpacked(format.compression, source, budget, rule)
}

async function hashDisc ({ path, console }: Hashing, source: Source, budget: Budget): Promise<string | null> {
  const disc = await openDisc(path, source, budget)
  try {
    return discRuleOf(console)?.(disc) ?? null
  } finally {
    disc.close()
  }
}

async function hashMember (archive: Archive, { excluded }: HashSettings, rule: ContentRule): Promise<string | null> {
  const member = largestMember((await archive.list()).filter(({ name }) => !isExcluded(name, excluded)))
  if (member === null) throw new ArchiveError('there is no file in it')
  return await hashPieces(member.size, rule, async function * () {
    for await (const entry of archive.entries(new Set([member.index]))) yield * entry.content()
  })
}

/** Unpacks twice, because some rules depend on the size and a compressed file does not reliably tell it. */
async function hashUnpacked (
  compression: Compression, source: Source, budget: Budget, rule: ContentRule
): Promise<string | null> {
  let size = 0
  for await (const piece of unpack(compression, source, budget)) size += piece.length
  return await hashPieces(size, rule, () => unpack(compression, source, budget))
}

async function hashPieces (
  size: number, rule: ContentRule, open: () => AsyncIterable<Uint8Array>
): Promise<string | null> {
  const reads = new MemberReads(size, open)
  try {
    return await rule(reads)
  } finally {
    await reads.close()
  }
}
