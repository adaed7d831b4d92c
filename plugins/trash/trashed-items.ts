import { ApiError, notFound } from '../../core/errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import type { BulkResult } from '../firmware/schemas.ts'
import { toRefusal } from '../library/write-checks.ts'
import type { TrashedItem } from './rows.ts'

/** The number of items that are deleted or announced together. */
export const PAGE = 500

export const itemNotFound = (id: number) => notFound(`Item with ID '${id}' of the trash not found`)

/** Returns why a file cannot be moved. @param path of the file in its library */
export function explainMove (err: unknown, path: string): string {
  const refusal = toRefusal(err, path)
  if (refusal instanceof ApiError) return refusal.message
  if (errorCode(err) === '') throw err
  return `'${path}' cannot be moved (${errorCode(err)}); check its disk`
}

/** Runs work on each item, and collects the failures. */
export async function forEachItem (
  ids: readonly number[], items: ReadonlyMap<number, TrashedItem>, words: string,
  work: (item: TrashedItem) => Promise<void>
): Promise<{ done: TrashedItem[], result: BulkResult }> {
  const done: TrashedItem[] = []
  const failed = new Map<number, string>()
  for (const id of ids) {
    const item = items.get(id)
    if (item === undefined) {
      failed.set(id, itemNotFound(id).message)
      continue
    }
    try {
      await work(item)
      done.push(item)
    } catch (err) {
      failed.set(id, `Failed to ${words} ${id}: ${explainMove(err, `${item.file_path}/${item.file_name}`)}`)
    }
  }
  const result = { successful_items: done.length, failed_ids: [...failed.keys()], errors: [...failed.values()] }
  return { done, result }
}
