import type { Logger } from 'pino'
import type { ProcessMessage } from './messages.ts'
import type { Slot } from './process-slot.ts'

export interface RestTurnsOptions {
  /** The slot of the scan worker. */
  worker: Slot
  /** The slot of the web worker that looks for work meanwhile. */
  guard: Slot
  log: Logger
}

/**
 * Creates the turns of a scan worker between rest and work. It ends only while a web worker looks for its work, and
 * starts again as soon as that one finds some or ends.
 */
export function createRestTurns ({ worker, guard, log }: RestTurnsOptions) {
  const unguard = () => { if (guard.isReady) guard.send({ type: 'unguard' }) }

  function wake (reason: string): void {
    if (worker.wake()) log.info({ reason }, 'the scan worker starts again')
    // It was not told to end yet. While it starts, the other one goes on.
    else if (worker.isReady) unguard()
  }

  return {
    receive (message: ProcessMessage): void {
      if (message.type === 'idle' && guard.isReady) guard.send({ type: 'guard', wake_at: message.wake_at })
      if (message.type === 'guarding') worker.rest()
      if (message.type === 'busy') {
        worker.stay()
        unguard()
      }
      if (message.type === 'wake') wake(message.reason)
    },

    /** Called when the scan worker is ready, or ended unexpectedly. */
    workerChanged: unguard,
    /** Called when the web worker that looked for work ended. */
    guardLost: () => { wake('the web worker that looked for work ended') }
  }
}
