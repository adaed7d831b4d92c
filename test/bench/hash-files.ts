import { availableParallelism } from 'node:os'
import { createHasher } from '../../plugins/hashing/hasher.ts'
import { type Timing, answer, time } from './process.ts'

export interface HashFilesInput { paths: string[] }

/** A process that hashes files as a scan does. */
answer<HashFilesInput, Timing>(async ({ paths }) => {
  const hasher = createHasher()
  const [first = ''] = paths
  // Starting the threads is not hashing.
  await Promise.all(Array.from({ length: availableParallelism() }, () => hasher.hashFile(first)))
  return await time(() => Promise.all(paths.map((path) => hasher.hashFile(path))))
})
