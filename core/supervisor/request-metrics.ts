import type { ServerSnapshot } from '../metrics/metric-snapshot.ts'
import { NEVER, limitTime } from '../concurrency/limit-time.ts'
import { ANSWER_MS } from './collect-metrics.ts'
import type { ProcessMessage } from './messages.ts'

/** Creates the client of the supervisor's metrics, in a process that `svc start` runs. */
export function createAllMeasured (report: (message: ProcessMessage) => Promise<void>) {
  const waiting = new Map<number, (server: ServerSnapshot) => void>()
  let last = 0

  return {
    /** Returns the metrics of all processes. @throws TimeLimitError if the supervisor does not answer in time */
    async read (): Promise<ServerSnapshot> {
      const { promise, resolve } = Promise.withResolvers<ServerSnapshot>()
      const id = ++last
      waiting.set(id, resolve)
      try {
        return await limitTime('The supervisor did not answer within', ANSWER_MS * 2, NEVER, async () => {
          await report({ type: 'measure_all', id })
          return await promise
        })
      } finally {
        waiting.delete(id)
      }
    },
    receive (id: number, server: ServerSnapshot): void { waiting.get(id)?.(server) }
  }
}
