import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { createPathMask } from '../../core/config/path-mask.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { ApiError } from '../../core/errors.ts'
import { type Change, UnchangeableError, changeText, readText } from './document.ts'
import { configNotWritable } from './errors.ts'
import { checkFile, readTextOf, replaceText } from './file.ts'
import { lockConfigFile } from './rows.ts'

/** Changes config.yml. The plan receives the content of the file and returns the changes. */
export type ChangeFile = (plan: (content: Record<string, unknown>) => readonly Change[]) => Promise<void>

const refuse = (reason: string, cause?: unknown) => new ApiError('CONFLICT',
  `config.yml cannot be changed here: ${reason}. Edit the file itself`, { cause })

/** Creates the function that changes config.yml, and the one that finds its problem. */
export function createConfigFile (app: FastifyInstance, config: Config) {
  const { path: file } = config.file
  const mask = createPathMask(config)

  function findProblem (): string | null {
    const problem = config.file.findProblem()
    return problem === null ? null : mask(problem)
  }

  /** Changes the current file under a lock; every process notices the change by itself. */
  const change: ChangeFile = async (plan) => {
    if (!(await checkFile(file)).isWritable) throw configNotWritable()
    const problem = findProblem()
    if (problem !== null) throw refuse(problem)
    // The work is idempotent, so the transaction may be retried.
    await inTransaction(app.db, async (tx) => {
      await lockConfigFile(tx)
      const before = await readTextOf(file)
      try {
        const after = changeText(before, plan(readText(before)))
        if (after !== before) await replaceText(file, after)
      } catch (err) {
        throw err instanceof UnchangeableError ? refuse(err.message, err) : err
      }
    })
  }

  return { change, findProblem }
}
