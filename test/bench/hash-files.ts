import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { createHasher } from '../../plugins/hashing/hasher.ts'
import { type Timing, answer, time } from './process.ts'

export interface HashFilesInput { paths: string[] }

/** Hashes files as a scan does, in a process of its own. */
answer<HashFilesInput, Timing>(async ({ paths }) => {
  const hasher = createHasher({ folders: [...new Set(paths.map((path) => dirname(path)))] })
  const [first = ''] = paths
  // Start the threads before the measurement.
  await Promise.all(Array.from({ length: availableParallelism() }, () => hasher.hashFile(first)))
  return await time(() => Promise.all(paths.map((path) => hasher.hashFile(path))))
})
