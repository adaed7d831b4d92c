import { createSemaphore } from '../../core/semaphore.ts'
import { copyObject } from '../../core/store/move-object.ts'
import { type ObjectFacts, type Store, STORE_FOLDERS } from '../../core/store/store.ts'

const COPIES_AT_ONCE = 8
/** Uploads that are not complete, and that no other store needs. */
const UNFINISHED = /^assets\/(?:users\/[^/]+\/)?incoming\//

export interface CopyProgress {
  copied: number
  bytes: number
  /** Objects that the target had already. */
  present: number
  /** Objects that were deleted since they were listed. */
  gone: number
}

async function listAll (store: Store): Promise<Map<string, ObjectFacts>> {
  const found = new Map<string, ObjectFacts>()
  for (const folder of STORE_FOLDERS) for await (const facts of store.list(folder)) found.set(facts.key, facts)
  return found
}

/** True if the target has the object. Only avatars are replaced under their key, and a replaced one is newer. */
const isPresent = (source: ObjectFacts, target: ObjectFacts | undefined): boolean =>
  target !== undefined && target.size === source.size && target.modifiedAt >= source.modifiedAt

/**
 * Copies all objects that the target lacks. A killed copy continues when it is called again, because every object is
 * stored whole or not at all.
 *
 * @throws the reason of the signal, or the first failure, after the running copies ended
 */
export async function copyStore (
  from: Store, to: Store, signal: AbortSignal, report: (progress: CopyProgress) => void
): Promise<CopyProgress> {
  const progress: CopyProgress = { copied: 0, bytes: 0, present: 0, gone: 0 }
  const [sources, targets] = [await listAll(from), await listAll(to)]
  const semaphore = createSemaphore(COPIES_AT_ONCE)
  const failures: unknown[] = []
  const copyOne = async (facts: ObjectFacts): Promise<void> => {
    if (signal.aborted || failures.length > 0) return
    if (isPresent(facts, targets.get(facts.key))) {
      progress.present++
      return
    }
    try {
      const bytes = await copyObject(from, to, facts.key)
      if (bytes === null) progress.gone++
      else {
        progress.copied++
        progress.bytes += bytes
      }
      report(progress)
    } catch (err) {
      failures.push(err)
    }
  }
  const wanted = [...sources.values()].filter(({ key }) => !UNFINISHED.test(key))
  await Promise.all(wanted.map((facts) => semaphore.run(() => copyOne(facts))))
  signal.throwIfAborted()
  if (failures.length > 0) throw failures[0]
  return progress
}
