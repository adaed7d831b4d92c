import type { FastifyInstance } from 'fastify'
import { NEVER, limitTime } from '../../core/concurrency/limit-time.ts'
import { isAnswering } from './rows.ts'
import type { Check, Readiness } from './schemas.ts'

const CHECK_TIMEOUT_MS = 3_000
const OK: Check = { status: 'ok', reason: null }
const failed = (reason: string): Check => ({ status: 'failed', reason })

export function createHealth (app: FastifyInstance) {
  /** The details are only logged, because a database error may name its host and user. */
  async function check (name: string, reason: string, isHealthy: () => Promise<boolean>): Promise<Check> {
    try {
      return await limitTime('No answer within', CHECK_TIMEOUT_MS, NEVER, isHealthy) ? OK : failed(reason)
    } catch (err) {
      app.log.warn({ err, check: name }, 'readiness check failed')
      return failed(reason)
    }
  }

  async function checkDatabase (): Promise<Check> {
    const problem = app.findSchemaProblem()
    if (problem !== null) return failed(problem)
    return await check('database', 'The database does not answer; see the log of the server', () => isAnswering(app.db))
  }

  /** Anyone may call this, so the names and folders of libraries are only logged. */
  async function checkLibraries (): Promise<Check> {
    try {
      const states = await limitTime('No answer within', CHECK_TIMEOUT_MS, NEVER, () => app.library.checkLibraries())
      const lost = states.filter(({ problem }) => problem !== null)
      if (lost.length === 0) return OK
      app.log.warn({ libraries: lost.map(({ root, problem }) => ({ name: root.name, problem })) }, 'libraries cannot be read')
      return failed(`${lost.length} of ${states.length} libraries cannot be read; see GET /api/libraries`)
    } catch (err) {
      app.log.warn({ err, check: 'libraries' }, 'readiness check failed')
      return failed('The libraries cannot be checked; see the log of the server')
    }
  }

  return {
    /**
     * Checks if this process can serve, which needs the database. A missing scan worker and an unreadable library are
     * reported: one of several hosts must not be taken out for them, because it serves everything else.
     */
    async readReadiness (): Promise<Readiness> {
      const [database, worker, libraries] = await Promise.all([
        checkDatabase(),
        check('worker', 'No scan worker is running', () => app.workers.isAlive('worker')),
        checkLibraries()
      ])
      return { status: database.status, checks: { database, worker, libraries } }
    }
  }
}
