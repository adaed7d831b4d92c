import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

const THREAD = new URL('./bcrypt-thread.ts', import.meta.url)

/**
 * Compares a password, of which only the first 72 bytes count, with a bcrypt hash. A thread does it, because it takes
 * up to a second. Few sign-ins need one, because each replaces the hash.
 */
export async function compareBcrypt (password: string, passwordHash: string): Promise<boolean> {
  const thread = new Worker(THREAD, { workerData: { password, passwordHash } })
  const [matches] = await once(thread, 'message') as [boolean]
  return matches
}
