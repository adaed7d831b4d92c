import { StartError } from '../errors.ts'
import { directUrlOf } from '../config/database-urls.ts'
import type { Features } from '../feature.ts'
import { createHostId } from '../process/host.ts'
import { exitOnServerErrors } from '../loader/calls/fault.ts'
import { runStripped } from '../loader/packages/strip-types.ts'
import { createLogger } from '../log/log.ts'
import { listRuntimeWarnings } from '../process/runtime.ts'
import { type RunningRole, prepareHost, startRole } from '../server.ts'
import { listenUrl } from '../config/base-url.ts'
import { closeMs } from '../supervisor/drain.ts'
import { createLayout, openSocketFolder } from '../supervisor/folders.ts'
import type { ServerRole } from '../jobs/workers.ts'

/** Resolves when this process was told to end and has closed; a second signal ends it at once. */
function waitForEnd (running: RunningRole, drainSeconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let isClosing = false
    const stop = () => {
      if (isClosing) process.exit(1)
      isClosing = true
      setTimeout(() => { process.exit(1) }, closeMs(drainSeconds)).unref()
      running.close().then(resolve, reject)
    }
    process.on('SIGINT', stop).on('SIGTERM', stop)
  })
}

/** Implements `svc web` and `svc worker`: runs one role in this process, on a database that other machines also use. */
export async function runRole (features: Features, role: ServerRole): Promise<void> {
  const { config, warnings } = await features.loadConfig()
  const databaseUrl = directUrlOf(config)
  if (databaseUrl === undefined) {
    throw new StartError(`svc ${role} needs a database that several processes can reach. Set SVC_DATABASE_URL to a ` +
      'PostgreSQL 15 or later, or use svc start to run everything on this machine.')
  }
  const logger = createLogger(config, `svc-${role}`)
  await runStripped(config, logger)
  exitOnServerErrors(() => logger, `svc ${role} fails`)
  for (const warning of [...warnings, ...listRuntimeWarnings()]) logger.warn(warning)
  logger.info(`svc ${role} starts`)
  await createLayout(config)
  const folder = await openSocketFolder(config)
  try {
    const running = await startRole({
      features,
      config: await prepareHost(features, { config, databaseUrl, log: logger }),
      role,
      databaseUrl,
      logger,
      hostId: createHostId(),
      workerNumber: 0,
      socketDir: folder.path
    })
    // Registered before the process reports that it is ready, because a listener of that report may end the process.
    const ended = waitForEnd(running, config.server.drain_seconds)
    logger.info(running.port === null ? {} : { url: listenUrl(config, running.port) }, `svc ${role} is ready`)
    const setupCode = role === 'web' ? await running.app.users.findSetupCode() : null
    if (setupCode !== null) logger.warn(`there is no administrator yet; creating one from another machine needs the setup code ${setupCode}`)
    await ended
  } finally {
    folder.remove()
  }
}
