import fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import database from '../../../core/database/database.ts'
import { createHostId } from '../../../core/process/host.ts'
import errorHandler from '../../../core/web/error-handler.ts'
import jobs, { type Jobs } from '../../../core/jobs/jobs.ts'
import rest from '../../../core/jobs/rest.ts'
import workers from '../../../core/jobs/workers.ts'
import { features } from '../../../plugins/index.ts'

/** Longer than a busy machine needs for any of these tests. */
export const LONG_SECONDS = 60
export const LONG_MS = LONG_SECONDS * 1_000

export type Define = (jobs: Jobs) => void

/** Starts one process with these queues. */
export async function start (t: Pick<Test, 'teardown'>, url: string, works: boolean, define: Define): Promise<Jobs & { app: FastifyInstance, close (): Promise<void> }> {
  const app = fastify()
  await app.register(errorHandler)
  await app.register(database, { url, poolSize: 2, ...await features.loadTables() })
  await app.register(workers, { url, role: works ? 'worker' : 'web', isSupervised: false, host: { id: createHostId(), address: null } })
  await app.register(rest, { isWoken: false })
  await app.register(jobs, { url, runsJobs: works })
  define(app.jobs)
  t.teardown(() => app.close())
  await app.ready()
  return { ...app.jobs, app, close: () => app.close() }
}
