import { type ManyLstats, type ReadFacts, UNREADABLE } from '../../entries/lstat-many.ts'
import type { DirectoryItem } from '../../library/directory.ts'
import type { StoredRomSummary } from '../rom-rows.ts'

const BATCH = 1_024
/** The most files whose facts are read before their ROMs are listed, because both stay in memory until then. */
const EARLY_MAX = 32 * BATCH

/** Facts of files by name, as `toFactsText` writes them. */
export type FactsByName = ReadonlyMap<string, string>

/** The items of one batch: the names of unchanged files, and all others. */
export interface ComparedItems { unchanged: ReadonlySet<string>, others: DirectoryItem[] }

/** True if nothing is left to do for a ROM whose file is unchanged. */
const isComplete = (rom: StoredRomSummary) => !rom.missing_from_fs && !rom.is_fresh && !rom.is_unfinished

const isFile = ({ kind, isValid }: DirectoryItem) => kind === 'file' && isValid

/**
 * Reads facts of the files of a platform folder by a thread while the database lists their ROMs, because the disk is
 * idle then. A folder without ROMs ends this soon.
 *
 * @param folder the absolute path of the platform folder
 * @param listing settles when the ROMs are listed
 */
export async function readEarlyFacts (
  folder: string, items: Iterable<DirectoryItem>, listing: Promise<unknown>,
  { readFacts, ready }: Pick<ManyLstats, 'readFacts' | 'ready'>
): Promise<FactsByName> {
  const listed = new AbortController()
  const end = () => { listed.abort() }
  await Promise.race([ready, listing.then(end, end)])
  const names = [...items].filter(isFile).slice(0, EARLY_MAX).map(({ name }) => name)
  const found = new Map<string, string>()
  for (let start = 0; start < names.length && !listed.signal.aborted; start += BATCH) {
    const batch = names.slice(start, start + BATCH)
    const facts = await readFacts(batch.map((name) => `${folder}/${name}`))
    for (const [index, name] of batch.entries()) found.set(name, facts[index] ?? UNREADABLE)
  }
  return found
}

/** The ROMs of a platform folder by the names of their files, and the facts of files that were read before. */
export interface KnownFiles { known: ReadonlyMap<string, StoredRomSummary>, facts: FactsByName }

/**
 * Finds the files of a platform folder that are unchanged, by size, time and inode. A quick scan reads no entry for
 * them and writes nothing, because nearly all files of a library are unchanged.
 *
 * @param folder the absolute path of the platform folder
 */
export async function * findUnchanged (
  folder: string, items: readonly DirectoryItem[], { known, facts: early }: KnownFiles,
  { readFacts, signal }: { readFacts: ReadFacts, signal: AbortSignal }
): AsyncGenerator<ComparedItems> {
  function isComparable (item: DirectoryItem): boolean {
    const rom = known.get(item.name)
    return isFile(item) && rom !== undefined && rom.file_facts !== null && isComplete(rom)
  }

  async function compare (start: number): Promise<ComparedItems> {
    const batch = items.slice(start, start + BATCH)
    const names = batch.filter(isComparable).map(({ name }) => name)
    const unread = names.filter((name) => !early.has(name))
    const facts = await readFacts(unread.map((name) => `${folder}/${name}`))
    const late = new Map(unread.map((name, index) => [name, facts[index]]))
    const factsOf = (name: string) => early.get(name) ?? late.get(name)
    const unchanged = new Set(names.filter((name) => factsOf(name) === known.get(name)?.file_facts))
    return { unchanged, others: batch.filter(({ name }) => !unchanged.has(name)) }
  }

  let next = compare(0)
  for (let start = 0; start < items.length; start += BATCH) {
    const batch = next
    // The disk reads the next batch while this one is compared.
    next = compare(start + BATCH)
    yield await batch
    signal.throwIfAborted()
  }
}
