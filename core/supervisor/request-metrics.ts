import type { ServerMeasured } from '../metrics/metric-snapshot.ts'
import { NEVER, limitTime } from '../loader/limit-time.ts'
import { ANSWER_MS } from './collect-metrics.ts'
import type { News } from './messages.ts'

/** Creates the client of the supervisor's metrics, in a process that `svc start` runs. */
export function createAllMeasured (report: (news: News) => Promise<void>) {
  const waiting = new Map<number, (server: ServerMeasured) => void>()
  let last = 0

  return {
    /** Returns the metrics of all processes. @throws TimeLimitError if the supervisor does not answer in time */
    async read (): Promise<ServerMeasured> {
      const { promise, resolve } = Promise.withResolvers<ServerMeasured>()
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
    receive (id: number, server: ServerMeasured): void { waiting.get(id)?.(server) }
  }
}
