import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '../../core/typebox.ts'
import type { Task } from './entities.ts'

const POLL_MS = 400
const UNFINISHED: readonly Task['status'][] = ['queued', 'started', 'deferred', 'scheduled']

/**
 * Waits for the end of a task that a command started.
 *
 * @param show gets the task at each look
 * @returns the task; null if Ctrl-C came first, of which the command tells the operator here
 */
export async function followTask (app: App, id: string, show: (task: Task) => void = () => {}): Promise<Task | null> {
  const leave = new AbortController()
  const onSignal = () => { leave.abort() }
  process.once('SIGINT', onSignal)
  try {
    while (!leave.signal.aborted) {
      const task = await app.tasks.get(app.db, id)
      show(task)
      if (!UNFINISHED.includes(task.status)) return task
      // A signal ends the sleep early, and the loop notices the signal.
      await sleep(POLL_MS, undefined, { signal: leave.signal }).catch(() => undefined)
    }
  } finally {
    process.off('SIGINT', onSignal)
  }
  process.stderr.write(`\nsvc: this command ends; the task ${id} continues in the server. Stop it with svc tasks stop ${id}\n`)
  return null
}
