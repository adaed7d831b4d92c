import { ApiError } from '../../core/errors.ts'
import type { Library } from './service.ts'

/**
 * Returns the folders of mounted libraries, by id, because in other libraries all files would appear to be missing.
 *
 * @throws ApiError UNAVAILABLE if no library is mounted
 */
export async function findReadable (library: Pick<Library, 'checkLibraries'>): Promise<Map<number, string>> {
  const states = await library.checkLibraries()
  const dirs = new Map(states.filter(({ problem }) => problem === null).map(({ root }) => [root.id, root.dir]))
  const [first] = states
  if (dirs.size > 0 || first === undefined) return dirs
  throw new ApiError('UNAVAILABLE', `The library '${first.root.name}' is not mounted: ${first.problem}. Mount its disk, then run the task again`)
}
