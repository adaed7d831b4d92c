import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { directUrlOf } from '../../core/config/database-urls.ts'
import { createPathMask } from '../../core/config/path-mask.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { ApiError } from '../../core/errors.ts'
import { type Change, UnchangeableError } from './content.ts'
import { configNotWritable } from './errors.ts'
import { checkFile, readTextOf, replaceText } from './file.ts'
import { lockConfigFile } from './rows.ts'
import { type ShareResult, shareSettings } from './share-settings.ts'

/** Receives the content of the file and returns its changes. */
type Plan = (content: Record<string, unknown>) => readonly Change[]
/** Changes config.yml. */
export type ChangeFile = (plan: Plan) => Promise<void>

const refuse = (reason: string, cause?: unknown) => new ApiError('CONFLICT',
  `config.yml cannot be changed here: ${reason}. Edit the file itself`, { cause })

/** Creates the function that changes config.yml, and the one that finds its problem. */
export function createConfigFile (app: FastifyInstance, config: Config) {
  const { path: file } = config.file
  const mask = createPathMask(config)
  const hasHosts = directUrlOf(config) !== undefined

  function findProblem (): string | null {
    const problem = config.file.findProblem()
    return problem === null ? null : mask(problem)
  }

  /** Compares the file with the settings of all hosts. @throws ApiError CONFLICT if this host has others */
  async function share (tx: Db, before: ShareResult | null): Promise<ShareResult | null> {
    if (!hasHosts) return null
    const compared = await shareSettings(tx, { config, secrets: app.secrets, log: app.log }, { base: before?.base })
    if (compared.problem !== null) throw refuse(mask(compared.problem))
    return compared
  }

  /** Writes the file, and stores its change for all hosts. The plan sees what other hosts changed. */
  async function write (tx: Db, plan: Plan): Promise<(ShareResult | null)[]> {
    const latest = await share(tx, null)
    const { changeText, readText } = await import('./document.ts')
    const before = await readTextOf(file)
    const after = changeText(before, plan(readText(before)))
    if (after === before) return [latest]
    await replaceText(file, after)
    try {
      return [latest, await share(tx, latest)]
    } catch (err) {
      await replaceText(file, before)
      throw err
    }
  }

  /** Changes the current file under a lock; every process notices the change by itself. */
  const change: ChangeFile = async (plan) => {
    if (!(await checkFile(file)).isWritable) throw configNotWritable()
    const problem = findProblem()
    if (problem !== null) throw refuse(problem)
    // The work is idempotent, so the transaction may be retried.
    const compared = await inTransaction(app.db, async (tx) => {
      await lockConfigFile(tx)
      try {
        return await write(tx, plan)
      } catch (err) {
        throw err instanceof UnchangeableError ? refuse(err.message, err) : err
      }
    })
    for (const one of compared) await one?.finish()
  }

  return { change, findProblem }
}
