import { type ChildProcess, fork } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isAlive } from '../e2e/server.ts'
import { until } from '../until.ts'

/** The leftovers of a killed benchmark: processes in the order in which they are ended, and a folder. */
interface Leftovers { pids: number[], folder: string }

const END_MS = 20_000

async function end ({ pids, folder }: Leftovers): Promise<void> {
  for (const pid of pids) {
    if (!isAlive(pid)) continue
    process.kill(pid, 'SIGINT')
    await until(() => !isAlive(pid), `the end of ${pid}`, { ms: END_MS }).catch(() => process.kill(pid, 'SIGKILL'))
  }
  rmSync(folder, { recursive: true, force: true })
}

/**
 * Starts a process that waits for the end of this one, whatever ends it, and then removes the leftovers. Server and
 * database are in groups of their own, so a signal to this process would not reach them.
 */
export function startGuard (): { watch (left: Leftovers): void, stop (): void } {
  const guard = fork(fileURLToPath(import.meta.url), ['guard'], { detached: true, stdio: 'ignore' })
  release(guard)
  const parent = process.ppid
  setInterval(() => { if (process.ppid !== parent) process.exit(1) }, 1_000).unref()
  return {
    watch: (left) => { guard.send(left) },
    stop: () => { if (guard.connected) guard.disconnect() }
  }
}

/** Lets this process end without waiting for the guard. */
function release (guard: ChildProcess): void {
  guard.unref()
  guard.channel?.unref()
}

if (process.argv[2] === 'guard') {
  let left: Leftovers | null = null
  process.on('message', (message: Leftovers) => { left = message })
  process.once('disconnect', () => { if (left !== null) void end(left) })
}
