import { ApiError } from '../../core/errors.ts'
import type { Library } from './service.ts'

/**
 * The folders of libraries that are mounted, by id; in others everything would look gone.
 *
 * @throws ApiError UNAVAILABLE when none is
 */
export async function findReadable (library: Pick<Library, 'look'>): Promise<Map<number, string>> {
  const states = await library.look()
  const dirs = new Map(states.filter(({ problem }) => problem === null).map(({ root }) => [root.id, root.dir]))
  const [first] = states
  if (dirs.size > 0 || first === undefined) return dirs
  throw new ApiError('UNAVAILABLE', `The library '${first.root.name}' is not mounted: ${first.problem}. Mount its disk, then run the task again`)
}
