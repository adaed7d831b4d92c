import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../process/process-alive.ts'
import { isServerProcess, sendSignal } from './cluster.ts'

/** The time that the server waits for other processes to close their connections. */
const SMART_SHUTDOWN_MS = 3_000
const POLL_MS = 50

/**
 * Stops an embedded server whose supervisor was killed. Every process of that supervisor calls this function after it
 * has closed its own connections. The smart shutdown (SIGTERM) waits for the other connections; the fast one (SIGINT)
 * ends those that commands hold.
 * Windows has no such signals; there the next start stops the server.
 */
export async function endAbandonedServer (pid: number): Promise<void> {
  if (process.platform === 'win32' || !await isServerProcess(pid)) return
  sendSignal(pid, 'SIGTERM')
  for (const deadline = performance.now() + SMART_SHUTDOWN_MS; performance.now() < deadline; await sleep(POLL_MS)) {
    if (!isAlive(pid)) return
  }
  if (await isServerProcess(pid)) sendSignal(pid, 'SIGINT')
}
