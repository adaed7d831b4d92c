import { rmSync } from 'node:fs'
import { isAlive } from '../e2e/server.ts'
import { until } from '../until.ts'
import type { Leftover } from './cleanup.ts'

/* The keeper: it outlives a killed benchmark, and ends its processes, last first, and then deletes its folders. */
const PATIENCE_MS = 20_000
const kept: Leftover[] = []

/** SIGINT makes PostgreSQL end without waiting for its clients; other processes treat it as Ctrl-C. */
async function end (pid: number): Promise<void> {
  if (!isAlive(pid)) return
  process.kill(pid, 'SIGINT')
  await until(() => !isAlive(pid), `the end of process ${pid}`, { ms: PATIENCE_MS }).catch(() => { process.kill(pid, 'SIGKILL') })
}

process.on('message', (one: Leftover) => { kept.unshift(one) })
process.once('disconnect', () => {
  void (async () => {
    for (const { pid } of kept) {
      if (pid !== undefined) await end(pid)
    }
    for (const { folder } of kept) {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    }
    process.exit(0)
  })()
})
