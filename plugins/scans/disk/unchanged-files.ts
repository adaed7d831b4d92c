import type { ReadFacts } from '../../entries/lstat-many.ts'
import type { DirectoryItem } from '../../library/directory.ts'
import type { StoredRomSummary } from '../rom-rows.ts'

const BATCH = 1_024

/** The items of one batch: the names of unchanged files, and all others. */
export interface ComparedItems { unchanged: ReadonlySet<string>, others: DirectoryItem[] }

/** True if nothing is left to do for a ROM whose file is unchanged. */
const isSettled = (rom: StoredRomSummary) => !rom.missing_from_fs && !rom.is_fresh && !rom.is_unfinished

/**
 * Finds the files of a platform folder that are unchanged, by size, time and inode. A quick scan reads no entry for
 * them and writes nothing, because nearly all files of a library are unchanged.
 *
 * @param folder the absolute path of the platform folder
 */
export async function * findUnchanged (
  folder: string, items: readonly DirectoryItem[], known: ReadonlyMap<string, StoredRomSummary>,
  { readFacts, signal }: { readFacts: ReadFacts, signal: AbortSignal }
): AsyncGenerator<ComparedItems> {
  function isComparable ({ name, kind, isValid }: DirectoryItem): boolean {
    const rom = known.get(name)
    return kind === 'file' && isValid && rom !== undefined && rom.file_facts !== null && isSettled(rom)
  }

  async function compare (start: number): Promise<ComparedItems> {
    const batch = items.slice(start, start + BATCH)
    const names = batch.filter(isComparable).map(({ name }) => name)
    const facts = await readFacts(names.map((name) => `${folder}/${name}`))
    const unchanged = new Set(names.filter((name, index) => facts[index] === known.get(name)?.file_facts))
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
