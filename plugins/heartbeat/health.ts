import type { FastifyInstance } from 'fastify'
import { NEVER, limitTime } from '../../core/loader/limit-time.ts'
import { isAnswering } from './rows.ts'
import type { Check, Readiness } from './schemas.ts'

const CHECK_TIMEOUT_MS = 3_000
const OK: Check = { status: 'ok', reason: null }
const failed = (reason: string): Check => ({ status: 'failed', reason })

export function createHealth (app: FastifyInstance) {
  /** What went wrong is for the log: an error of the database may name its host and user. */
  async function check (name: string, reason: string, isWell: () => Promise<boolean>): Promise<Check> {
    try {
      return await limitTime('No answer within', CHECK_TIMEOUT_MS, NEVER, isWell) ? OK : failed(reason)
    } catch (err) {
      app.log.warn({ err, check: name }, 'readiness check failed')
      return failed(reason)
    }
  }

  return {
    /** Whether this process can serve: the database answers and a scan worker is there. */
    async readReadiness (): Promise<Readiness> {
      const [database, worker] = await Promise.all([
        check('database', 'The database does not answer; see the log of the server',
          () => isAnswering(app.pg)),
        check('worker', 'No scan worker is running', () => app.workers.isAlive('worker'))
      ])
      const isReady = database.status === 'ok' && worker.status === 'ok'
      return { status: isReady ? 'ok' : 'failed', checks: { database, worker } }
    }
  }
}
