import { FIRST_WEB_WORKERS } from '../../core/supervisor/grow-workers.ts'
import { type Command, listChildren } from '../e2e/server.ts'
import { until } from '../until.ts'

/** Waits until all processes of a server run, because the first web worker listens long before the last. */
export async function untilComplete (server: Command, workers: number, ms?: number): Promise<void> {
  const isComplete = async () =>
    (await listChildren(server.pid, 'web')).length === Math.min(workers, FIRST_WEB_WORKERS) && server.output().includes('is ready')
  await until(isComplete, 'all processes', ms === undefined ? server : { ...server, ms })
}
