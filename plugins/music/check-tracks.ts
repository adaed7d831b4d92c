import type { Context } from '../../core/access/context.ts'
import { badRequest } from '../../core/errors.ts'
import { ID_MAX } from '../../core/typebox.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { selectNamed } from './track-rows.ts'

const list = (ids: readonly number[]) => `[${ids.toSorted((a, b) => a - b).join(', ')}]`
const isId = (id: number) => id > 0 && id <= ID_MAX

/** Returns the ids without repeats. */
export const withoutRepeats = (ids: readonly number[]): number[] => [...new Set(ids)]
/** Returns the ids within the range of file ids. */
export const possibleIds = (ids: readonly number[]): number[] => withoutRepeats(ids).filter(isId)

/** @throws ApiError BAD_REQUEST for ids that are not tracks, or not visible to the caller */
export async function requireTracks (context: Context<AnyCaller>, given: readonly number[]): Promise<void> {
  const ids = withoutRepeats(given)
  const files = new Map((await selectNamed(context, ids.filter(isId))).map((file) => [file.id, file]))
  const missing = ids.filter((id) => files.get(id)?.is_visible !== true)
  if (missing.length > 0) throw badRequest(`Tracks not found: ${list(missing)}`)
  const others = ids.filter((id) => files.get(id)?.is_track !== true)
  if (others.length > 0) throw badRequest(`Files are not music tracks: ${list(others)}`)
}
