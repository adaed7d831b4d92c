import pg from 'pg'
import { lockPlatform } from '../rows.ts'

/**
 * Runs one export at a time in a platform's folder, across all machines. The lock has a connection of its own, because
 * waiting exports would exhaust a pool.
 *
 * @throws the signal's reason once it is aborted.
 */
export async function withPlatformLock<T> (
  databaseUrl: string, platformId: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  signal.throwIfAborted()
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'svc-exports' })
  const lost = new AbortController()
  client.on('error', (err) => { lost.abort(err) })
  await client.connect()
  try {
    await acquire(client, platformId, signal)
    return await work(AbortSignal.any([signal, lost.signal]))
  } finally {
    // Closing the connection releases the lock.
    await client.end()
  }
}

async function acquire (client: pg.Client, platformId: number, signal: AbortSignal): Promise<void> {
  const locked = lockPlatform(client, platformId)
  const aborted = Promise.withResolvers<never>()
  const abort = () => { aborted.reject(signal.reason) }
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([locked, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
