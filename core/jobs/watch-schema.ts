import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { type Migrations, SCHEMA_CHANNEL, listExecuted } from '../database/database.ts'
import { findUnusable } from '../database/known-schema.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the reason if a newer release changed the schema so that this process cannot work with it; else null. */
    findSchemaProblem: () => string | null
  }
}

/** Notifications are lost while a connection is, so the schema is also checked at this interval. */
const CHECK_MS = 60_000
/** The time for load balancers to notice that this host is not ready, before it closes. */
const NOTICE_MS = 10_000

export interface WatchOptions {
  migrations: Migrations
  noticeMs?: number
  /** Closes and ends the process. */
  close (): void
}

/**
 * Watches for a newer release that migrates the database while this process runs. If the new schema lacks something
 * that this release uses, the process reports it, is no longer ready, and closes.
 */
export default fp<WatchOptions>(async (app, { migrations, close, noticeMs = NOTICE_MS }) => {
  let problem: string | null = null
  const closing = new AbortController()
  app.decorate('findSchemaProblem', () => problem)

  async function check (): Promise<void> {
    const unusable = findUnusable(await listExecuted(app.workers.session), migrations)
    if (unusable === undefined || problem !== null) return
    problem = `A newer release migrated the database (${unusable}), and this release cannot work with it; upgrade this host`
    app.log.fatal(problem)
    await sleep(noticeMs, undefined, { signal: closing.signal })
    close()
  }

  const checkAndLog = () => {
    check().catch((err: unknown) => {
      if (!closing.signal.aborted) app.log.debug({ err }, 'the schema of the database could not be checked')
    })
  }
  let timer: NodeJS.Timeout | undefined
  app.addHook('onReady', async () => {
    await app.workers.listen(SCHEMA_CHANNEL, checkAndLog)
    timer = setInterval(checkAndLog, CHECK_MS)
  })
  app.addHook('preClose', async () => {
    clearInterval(timer)
    closing.abort()
  })
}, { name: 'watch-schema', fastify: '5.x', dependencies: ['database', 'workers'] })
