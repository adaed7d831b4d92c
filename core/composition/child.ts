import { setSettings } from '../config/environment.ts'
import { explainStartError } from '../database/errors.ts'
import { EXIT_CODES, StartError } from '../errors.ts'
import { exitOnServerErrors } from '../loader/calls/fault.ts'
import { findInstalled } from '../loader/inspection/installed.ts'
import { createLogger, passLine } from '../log/log.ts'
import { createAllMeasured } from '../supervisor/request-metrics.ts'
import { ALIVE_MS, type ProcessMessage, type StartMessage, isSupervisorMessage } from '../supervisor/messages.ts'
import type * as Server from '../server.ts'
import type { RunningRole } from '../server.ts'
import { endAbandonedServer } from '../postgres/abandoned.ts'
import { Guard } from '../supervisor/guard.ts'
import { watchIdle } from '../supervisor/idle-watch.ts'
import { releaseStartMemory } from '../supervisor/start-memory.ts'
import { closeMs } from '../supervisor/drain.ts'
import { features } from '../../plugins/index.ts'

/** Entry of the processes that `svc start` runs; the first argument is the role. */
const role = process.argv[2] === 'worker' ? 'worker' : 'web'

/** Has the default log level until the order with the settings arrives. */
let log = createLogger({ server: { log_level: 'info' } }, `svc-${role}`)
// Imported before the order arrives, because the modules can load while the database starts.
const modules = loadModules()
let running: RunningRole | null = null
let isStopping = false
let guard: Guard | null = null
let stopIdleWatch = () => {}
let databaseUrl: string | null = null
let databasePid: number | null = null
/** True if the supervisor was killed. */
let isAbandoned = false
/** No upload can be running before the settings are known. */
let drainSeconds = 0

/** Loads the modules of the role one after the other, because their imports overlap. */
async function loadModules (): Promise<typeof Server> {
  const server = await import('../server.ts')
  if (role === 'web') await server.loadDocuments()
  await features.loadTables()
  await features.loadPlugins(role)
  return server
}

function report (message: ProcessMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve()
    else process.send(message, undefined, undefined, () => { resolve() })
  })
}

const allMeasured = createAllMeasured(report)

async function sendMetrics (id: number): Promise<void> {
  await report({ type: 'measured', id, measured: await running?.app.metrics.readOwn() ?? [] })
}

async function start (message: StartMessage): Promise<void> {
  setSettings(message.settings)
  const { config } = await features.loadConfig(message.settings, message.config_text)
  log = createLogger(config, `svc-${role}`)
  if (role === 'web') drainSeconds = config.server.drain_seconds
  const { prepareHost, startRole } = await modules
  const upgrade = { config, databaseUrl: message.database_url, log }
  const prepared = message.migrate ? await prepareHost(features, upgrade) : config
  const installed = message.installed ?? findInstalled(config.data_dir)
  running = await startRole({
    features,
    config: prepared,
    role,
    databaseUrl: message.database_url,
    logger: log,
    processRole: { name: message.name, readAllMeasured: allMeasured.read },
    hostId: message.host_id,
    workerNumber: message.worker_number,
    socketDir: message.socket_dir,
    port: message.port,
    wokenAfterMs: message.woken_after_ms,
    installed
  })
  if (isStopping) return
  await report({
    type: 'ready',
    setup_code: await running.app.users.findSetupCode(),
    has_pages: running.app.pages.areServed,
    installed,
    plugins: [...running.app.registry.records]
  })
  const { app } = running
  if (role === 'web') guard = new Guard({ app, report })
  else if (message.rest_ms > 0) stopIdleWatch = watchIdle({ app, restMs: message.rest_ms, report })
  releaseStartMemory(app.jobs.isBusy)
}

/** Ends the scan worker, unless it has work again. */
async function rest (): Promise<void> {
  if (isStopping || running === null) return
  if (await running.app.rest.findWork() === null) endWell()
  else await report({ type: 'busy' })
}

async function fail (thrown: unknown): Promise<void> {
  const err = explainStartError(thrown)
  // The supervisor starts the process again, because a temporary failure ends by itself.
  if (err instanceof StartError && err.exitCode === EXIT_CODES.temporary) log.fatal({ reason: err.message }, 'the process could not start')
  else if (err instanceof StartError) await report({ type: 'failed', message: err.message, exit_code: err.exitCode })
  else log.fatal({ err }, 'the process could not start')
  process.exit(1)
}

async function stop (uploadSeconds: number): Promise<void> {
  if (isStopping) return
  isStopping = true
  stopIdleWatch()
  setTimeout(() => {
    log.warn('the process did not close in time and exits without closing')
    process.exit(1)
  }, closeMs(uploadSeconds)).unref()
  await running?.close(uploadSeconds)
  if (isAbandoned && databasePid !== null) await endAbandonedServer(databasePid)
  process.exit(0)
}

const endWell = (uploadSeconds = drainSeconds) => {
  stop(uploadSeconds).catch((err: unknown) => {
    log.error({ err }, 'the process could not be closed cleanly')
    process.exit(1)
  })
}

function handleMessage (message: StartMessage): void {
  const isFirst = databaseUrl === null
  const isElsewhere = !isFirst && databaseUrl !== message.database_url
  databasePid = message.database_pid
  databaseUrl = message.database_url
  if (isFirst) start(message).catch(fail)
  // The database runs elsewhere now; the replacement of this process connects to it. Uploads cannot be stored any more.
  if (isElsewhere) endWell(0)
}

process.on('message', (message) => {
  if (!isSupervisorMessage(message)) return
  if (message.type === 'line') {
    passLine(log, message.line)
  } else if (message.type === 'measure') {
    sendMetrics(message.id).catch((err: unknown) => { log.warn({ err }, 'the metrics of the process could not be sent') })
  } else if (message.type === 'all_measured') {
    allMeasured.receive(message.id, message.server)
  } else if (message.type === 'stop') {
    endWell()
  } else if (message.type === 'rest') {
    rest().catch((err: unknown) => {
      log.warn({ err }, 'the scan worker could not rest')
      void report({ type: 'busy' })
    })
  } else if (message.type === 'guard') {
    guard?.start(message.wake_at)
  } else if (message.type === 'unguard') {
    guard?.stop()
  } else {
    handleMessage(message)
  }
})
// Ctrl-C in a terminal reaches every process; only the supervisor decides.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => { endWell() })
process.on('disconnect', () => {
  isAbandoned = true
  endWell(0)
})
exitOnServerErrors(() => log, 'the process failed and is restarted')
let lastLoop = performance.eventLoopUtilization()
setInterval(() => {
  const loop = performance.eventLoopUtilization()
  void report({ type: 'alive', busy: performance.eventLoopUtilization(loop, lastLoop).utilization })
  lastLoop = loop
}, ALIVE_MS).unref()
modules.catch(fail)
