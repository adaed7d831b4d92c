import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { directUrlOf } from '../../core/config/database-urls.ts'
import { stampOf } from '../../core/config/follow-config.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { SETTINGS_CHANGED, lockConfigFile, updateProblem } from './rows.ts'
import { type ShareResult, shareSettings } from './share-settings.ts'

/** An edited file must stay the same for this time, because some editors write it in two steps. */
const LOOK_MS = 2_000
/** The number of looks after which a host with a problem tries again: a minute. */
const RETRY_LOOKS = 30

/** Returns the stamp of a file; the former one while the file cannot be examined, such as on a lost network share. */
function stampOrFormer (path: string, former: string): string {
  try {
    return stampOf(path)
  } catch {
    return former
  }
}

/** Creates the comparison of this process, which reports each new problem. @returns true if it succeeded */
function createComparison (app: FastifyInstance, config: Config): () => Promise<boolean> {
  let stored: string | null = null

  async function report ({ problem, finish }: ShareResult): Promise<void> {
    await finish()
    if (problem === stored) return
    if (problem !== null) app.log.error({ reason: problem }, 'this host has other settings than the other hosts')
    await updateProblem(app.db, app.workers.id, problem)
    stored = problem
  }

  return async () => {
    try {
      await report(await inTransaction(app.db, async (tx) => {
        await lockConfigFile(tx)
        return await shareSettings(tx, { config, secrets: app.secrets, log: app.log })
      }))
      return stored === null
    } catch (err) {
      app.log.warn({ err }, 'config.yml could not be compared with the settings of all hosts; this is tried again')
      return false
    }
  }
}

/**
 * Keeps `config.yml` of this host and the settings of all hosts in one state while the process runs. It compares both
 * after a notification of another host, and after somebody edited the file. `svc doctor` reads problems from the row of
 * the process.
 */
export function followSettings (app: FastifyInstance, config: Config): void {
  if (directUrlOf(config) === undefined) return
  const { path } = config.file
  const compare = createComparison(app, config)
  let last: Promise<void> = Promise.resolve()
  let [isEqual, isClosing] = [false, false]
  let [waiting, looks] = [0, 0]
  /** The stamps of the file at the last look and at the last comparison. */
  let [seen, compared] = ['', '']
  let timer: NodeJS.Timeout | undefined

  async function run (): Promise<void> {
    waiting--
    if (isClosing) return
    compared = stampOrFormer(path, compared)
    isEqual = await compare()
  }

  function request (): void {
    waiting++
    last = last.then(run)
  }

  /** Reads only the times of the file, unless it changed or the last comparison failed. */
  function look (): void {
    const now = stampOrFormer(path, seen)
    const isEdited = now === seen && now !== compared
    seen = now
    looks = (looks + 1) % RETRY_LOOKS
    if (waiting === 0 && (isEdited || (looks === 0 && !isEqual))) request()
  }

  app.addHook('onReady', async () => {
    await app.workers.listen(SETTINGS_CHANGED, request)
    request()
    timer = setInterval(look, LOOK_MS).unref()
  })
  app.addHook('onClose', async () => {
    isClosing = true
    clearInterval(timer)
    await last
  })
}
