import { createSemaphore } from '../../core/concurrency/semaphore.ts'
import { copyObject } from '../../core/store/move-object.ts'
import { type ObjectFacts, type Store, STORE_FOLDERS } from '../../core/store/store.ts'

const COPIES_AT_ONCE = 8
/** Files that are not complete, and that no other store needs. */
const UNFINISHED = /^assets\/(?:users\/[^/]+\/)?incoming\/|^resources\/(?:.*\/)?\.[^/]+(?:\/|$)/
/** The folder of artwork, which has a folder for each platform. */
const ARTWORK = 'resources/roms'

export interface CopyProgress {
  copied: number
  bytes: number
  /** Objects that the target had already. */
  present: number
  /** Objects that were deleted since they were listed. */
  gone: number
}

/**
 * Lists the folders that are copied one after the other. Each platform is one, because the list of all objects of a
 * large library needs too much memory.
 */
async function listGroups (store: Store): Promise<string[]> {
  const foldersIn = async (folder: string) => (await store.listNames(folder)).folders.map((name) => `${folder}/${name}`)
  const groups: string[] = []
  for (const folder of STORE_FOLDERS) {
    const inside = await foldersIn(folder)
    if (inside.includes(ARTWORK)) groups.push(...inside.filter((name) => name !== ARTWORK), ...await foldersIn(ARTWORK))
    else groups.push(folder)
  }
  return groups
}

async function listGroup (store: Store, folder: string): Promise<Map<string, ObjectFacts>> {
  const found = new Map<string, ObjectFacts>()
  for await (const facts of store.list(folder)) if (!UNFINISHED.test(facts.key)) found.set(facts.key, facts)
  return found
}

/** True if the target has the object. Avatars and artwork are replaced under their key, and then they are newer. */
const isPresent = (source: ObjectFacts, target: ObjectFacts | undefined): boolean =>
  target !== undefined && target.size === source.size && target.modifiedAt >= source.modifiedAt

/** Creates the function that copies an object which the target lacks, and counts it. */
function createCopier (from: Store, to: Store, report: (progress: CopyProgress) => void) {
  const progress: CopyProgress = { copied: 0, bytes: 0, present: 0, gone: 0 }

  async function copyOne (facts: ObjectFacts, target: ObjectFacts | undefined): Promise<void> {
    if (isPresent(facts, target)) {
      progress.present++
      return
    }
    const bytes = await copyObject(from, to, facts.key)
    if (bytes === null) progress.gone++
    else {
      progress.copied++
      progress.bytes += bytes
    }
    report(progress)
  }

  return { progress, copyOne }
}

/**
 * Copies all objects that the target lacks. A killed copy continues when it is called again, because every object is
 * stored whole or not at all.
 *
 * @throws the reason of the signal, or the first failure, after the running copies ended
 */
export async function copyStore (
  from: Store, to: Store, signal: AbortSignal, report: (progress: CopyProgress) => void
): Promise<CopyProgress> {
  const { progress, copyOne } = createCopier(from, to, report)
  const semaphore = createSemaphore(COPIES_AT_ONCE)
  for (const group of await listGroups(from)) {
    const [sources, targets] = [await listGroup(from, group), await listGroup(to, group)]
    const failures: unknown[] = []
    await Promise.all([...sources.values()].map((facts) => semaphore.run(async () => {
      if (signal.aborted || failures.length > 0) return
      await copyOne(facts, targets.get(facts.key)).catch((err: unknown) => { failures.push(err) })
    })))
    signal.throwIfAborted()
    if (failures.length > 0) throw failures[0]
  }
  return progress
}
