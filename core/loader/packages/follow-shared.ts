import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config/config.ts'
import { directUrlOf } from '../../config/database-urls.ts'
import { createSemaphore } from '../../concurrency/semaphore.ts'
import { type Installed, installSharedPackages } from './install-shared.ts'
import { type Dependencies, describeDependencies } from './plugins-folder.ts'
import { PACKAGES_CHANGED } from './shared-packages.ts'

/** The first and the longest pause before another attempt to install what could not be installed. */
const RETRY_MS = { first: 30_000, longest: 3_600_000 }
const RESTART = 'Plugins were installed or removed since the server started; restart the server on this host to apply that'

/**
 * Keeps the plugins of this host in the state that all hosts share, while the process runs. Installed plugins load at
 * the next start. `svc plugins` and `svc doctor` read problems from the row of the process.
 *
 * @param loaded the packages at the start of the server
 */
export function followSharedPackages (app: FastifyInstance, config: Config, loaded: Dependencies | string): void {
  if (directUrlOf(config) === undefined) return
  let timer: NodeJS.Timeout | undefined
  let pauseMs = RETRY_MS.first
  const closing = new AbortController()
  const turns = createSemaphore(1)

  async function store ({ changed, problem }: Installed): Promise<void> {
    if (changed.length > 0) app.log.warn({ plugins: changed }, 'plugins were installed or removed as on the other hosts; restart the server to apply that')
    if (problem !== null) app.log.error({ reason: problem }, 'this host lacks plugins of the other hosts')
    const shown = problem ?? (isDeepStrictEqual(describeDependencies(config.data_dir), loaded) ? null : RESTART)
    await app.db.query('update workers set plugins_problem = $2 where id = $1', [app.workers.id, shown])
  }

  async function apply (): Promise<void> {
    clearTimeout(timer)
    if (closing.signal.aborted) return
    const installed = await installSharedPackages(config, closing.signal)
    if (closing.signal.aborted) return
    await store(installed).catch((err: unknown) => { app.log.warn({ err }, 'the state of the plugins of this host could not be stored') })
    if (installed.problem === null) pauseMs = RETRY_MS.first
    else {
      timer = setTimeout(request, pauseMs).unref()
      pauseMs = Math.min(pauseMs * 2, RETRY_MS.longest)
    }
  }

  /** Compares after the attempt that runs now, because it may have read the rows before they changed. */
  function request (): void {
    void turns.run(apply)
  }

  app.addHook('onReady', async () => {
    await app.workers.listen(PACKAGES_CHANGED, request)
    request()
  })
  app.addHook('onClose', async () => {
    closing.abort()
    clearTimeout(timer)
    // An npm that outlives this process would write to the folder while another host, which may share it, installs.
    await turns.run(async () => {})
  })
}
