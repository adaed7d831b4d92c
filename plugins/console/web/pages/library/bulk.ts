import { toFailure } from '../../api/failure.ts'

/** The result of the same work on many ROMs. */
export interface BulkOutcome {
  readonly done: readonly number[]
  readonly failed: readonly { readonly id: number, readonly reason: string }[]
}

/** Requests that run at once, so that a large selection leaves the server room for others. */
const PARALLEL = 4

/** Does something for each id. A failure does not stop the others. */
export async function forEachId (
  ids: readonly number[], work: (id: number) => Promise<unknown>, onProgress: (finished: number) => void = () => {}
): Promise<BulkOutcome> {
  const waiting = ids.values()
  const done: number[] = []
  const failed: { id: number, reason: string }[] = []
  async function run (): Promise<void> {
    for (const id of waiting) {
      try {
        await work(id)
        done.push(id)
      } catch (err) {
        failed.push({ id, reason: toFailure(err).message })
      }
      onProgress(done.length + failed.length)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, run))
  return { done, failed }
}

/** Splits ids into parts that one request takes. */
export function splitIds (ids: readonly number[], size: number): number[][] {
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, part) => ids.slice(part * size, (part + 1) * size))
}
