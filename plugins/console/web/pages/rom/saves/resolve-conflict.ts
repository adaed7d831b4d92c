import { resolveConflict, restoreContent, undeleteAsset } from './asset-calls.ts'
import type { Conflict } from './timeline.ts'

/** Keeps the content on the server. @returns a function that undoes it */
export async function keepOriginal ({ copy }: Conflict): Promise<() => Promise<void>> {
  await resolveConflict(copy, 'original')
  return async () => {
    await undeleteAsset(copy)
  }
}

/**
 * Keeps the content of the other device. The content on the server becomes a former version.
 *
 * @returns a function that undoes it
 */
export async function keepCopy ({ original, copy }: Conflict): Promise<() => Promise<void>> {
  await resolveConflict(copy, 'copy')
  return async () => {
    await restoreContent(original, original.sha1)
    await undeleteAsset(copy)
  }
}
