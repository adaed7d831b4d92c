import { type ChildProcess, fork } from 'node:child_process'
import cluster from 'node:cluster'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import type { Environment } from '../config/environment.ts'
import { EXIT_CODES, StartError } from '../errors.ts'
import { createHostId } from '../process/host.ts'
import { readLines } from '../log/log.ts'
import { SERVER_DIR } from '../server-dir.ts'
import { renderBanner } from './banner.ts'
import { listenUrl } from '../config/base-url.ts'
import { type Database, openDatabase } from './database.ts'
import { type SocketFolder, clearOldSockets, createLayout, openSocketFolder } from './folders.ts'
import { killMs } from './drain.ts'
import { FIRST_WEB_WORKERS, createGrowth } from './grow-workers.ts'
import { trackUnacceptedConnections } from './connection-handover.ts'
import { type DataLock, lockDataDir } from './lock.ts'
import { createMeasures } from './collect-metrics.ts'
import { ALIVE_MS, type ReadyMessage } from './messages.ts'
import { WEB_FLAGS, WORKER_FLAGS } from '../process/node-flags.ts'
import { watchNpm } from './parent.ts'
import { checkPort } from './port.ts'
import { Slot, type SlotOptions } from './process-slot.ts'
import { createRestTurns } from './rest-turns.ts'
import { releaseStartMemory } from './start-memory.ts'
import { readLastState, removeServerState, writeServerState } from './server-state.ts'
import { strippedFlags } from '../loader/packages/strip-types.ts'

export interface SuperviseOptions {
  config: Config
  /** The variables that `config` was read from; all processes read them too. */
  settings: Environment
  log: Logger
  /** Receives the text for the operator once the server is up. */
  announce (text: string): void
}

const ENTRY = join(SERVER_DIR, 'core', 'composition', 'child.ts')
/** glibc would give each thread its own heap, mostly unused. */
const MEMORY_ENVIRONMENT = { MALLOC_ARENA_MAX: '2' }
/** npm and the terminal both pass Ctrl-C on, so two signals within this time are one. */
const SAME_SIGNAL_MS = 1_000
/** The most failures in a row of the first process, before the start fails. */
const FIRST_FAILURES_MAX = 5
/** A process that takes longer to start does not delay the next one. */
const START_WAIT_MS = 10_000
/** The banner waits no longer for the scan worker, which has the state of plugins. */
const BANNER_WAIT_MS = 10_000
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

interface RunEnd { code: number, failure: StartError | null }

function claimDataDir ({ data_dir: dataDir }: Config): DataLock {
  const lock = lockDataDir(dataDir)
  if (lock !== null) return lock
  const state = readLastState(dataDir)
  const running = state === null ? '' : ` (process ${state.pid}, since ${state.started_at})`
  const remedy = state === null ? 'Stop it' : `Stop it with: kill ${state.pid}`
  throw new StartError(`svc is already running on ${dataDir}${running}. ${remedy}, or set SVC_DATA_DIR to another folder.`,
    { exitCode: EXIT_CODES.temporary })
}

function forkWeb ({ data_dir: dataDir }: Config): ChildProcess {
  cluster.setupPrimary({ exec: ENTRY, args: ['web'], execArgv: [...WEB_FLAGS, ...strippedFlags(dataDir)], windowsHide: true })
  const { process: child } = cluster.fork(MEMORY_ENVIRONMENT)
  trackUnacceptedConnections(child)
  return child
}

function forkWorker ({ data_dir: dataDir }: Config): ChildProcess {
  return fork(ENTRY, ['worker'], { execArgv: [...WORKER_FLAGS, ...strippedFlags(dataDir)], env: { ...process.env, ...MEMORY_ENVIRONMENT } })
}

/** A worker of the server; the scan worker has the number 0. */
interface Worker { name: string, number: number, fork (config: Config): ChildProcess }

type SlotEvents = Required<Pick<SlotOptions, 'onReady' | 'onLost'>> & Pick<SlotOptions, 'onMessage'>

const MINUTE_MS = 60_000

/** One run of the server: its processes, its database, its end. */
class Run {
  readonly #options: SuperviseOptions
  readonly #port: number
  readonly #startedAt = new Date().toISOString()
  readonly #hostId = createHostId()
  readonly #end = Promise.withResolvers<RunEnd>()
  readonly #firstWeb: Slot
  /** Slots that are not filled yet. They start one after the other, because the first requests need a processor. */
  readonly #waiting: { slot: Slot, number: number }[] = []
  readonly #slots: { slot: Slot, number: number }[] = []
  readonly #growing: NodeJS.Timeout
  readonly #rests: ReturnType<typeof createRestTurns>
  readonly #measures: ReturnType<typeof createMeasures> | null
  #database: Database | null = null
  #socketFolder: SocketFolder | null = null
  #ready: ReadyMessage | null = null
  readonly #stopping = new AbortController()
  #stoppedAt = 0
  #patience: NodeJS.Timeout | undefined
  #bannerTimer: NodeJS.Timeout | undefined

  constructor (options: SuperviseOptions, port: number) {
    this.#options = options
    this.#port = port
    this.#firstWeb = this.#addWeb(1, {
      onReady: (message) => { this.#open(message) },
      onLost: (failures) => {
        this.#rests.guardLost()
        if (this.#ready === null && failures >= FIRST_FAILURES_MAX) {
          this.#fail(`The web worker ended ${failures} times while starting; the log above says why.`)
        }
      },
      onMessage: (message) => { this.#rests.receive(message) }
    })
    const next = () => { this.#fillNext() }
    const worker = this.#addSlot({ name: 'scan worker', number: 0, fork: forkWorker }, {
      onReady: (message) => {
        this.#rests.workerChanged()
        this.#announce(message)
        next()
      },
      onLost: () => {
        this.#rests.workerChanged()
        next()
      },
      onMessage: (message) => { this.#rests.receive(message) }
    })
    this.#rests = createRestTurns({ worker, guard: this.#firstWeb, log: options.log })
    this.#waiting.push({ slot: worker, number: 0 })
    for (let number = 2; number <= Math.min(FIRST_WEB_WORKERS, options.config.server.workers); number++) {
      this.#waiting.push({ slot: this.#addWeb(number, { onReady: next, onLost: next }), number })
    }
    this.#measures = options.config.metrics.enabled ? createMeasures(() => this.#listUsed()) : null
    const growth = createGrowth({
      listBusy: () => this.#listWebs().map(({ slot }) => slot.busy),
      grow: () => { this.#grow() }
    })
    this.#growing = setInterval(() => { growth() }, ALIVE_MS)
  }

  get #isStopping () {
    return this.#stopping.signal.aborted
  }

  #addWeb (number: number, events: SlotEvents): Slot {
    return this.#addSlot({ name: `web worker ${number}`, number, fork: forkWeb }, events)
  }

  #addSlot ({ name, number, fork }: Worker, { onReady, onLost, onMessage }: SlotEvents): Slot {
    const slot = new Slot({
      name,
      fork: () => fork(this.#options.config),
      log: this.#options.log,
      onReady,
      ...(onMessage === undefined ? {} : { onMessage }),
      onRest: () => { this.#measures?.keepTotals(name) },
      onLost: (failures) => {
        this.#measures?.keepTotals(name)
        onLost(failures)
      },
      readAllMeasured: async () => await this.#measures?.readAll() ?? { processes: [], former: [] },
      // Without the scan worker the web workers still answer.
      isOptional: number === 0,
      onStartImpossible: (message, exitCode) => { this.#fail(message, exitCode) }
    })
    this.#slots.push({ slot, number })
    return slot
  }

  #fail (message: string, exitCode = 1): void {
    this.#end.resolve({ code: exitCode, failure: new StartError(message, { exitCode }) })
  }

  /** Runs until the server ends. @returns the exit code; no process of this run is left then. */
  async finish (): Promise<number> {
    const listener = (signal: NodeJS.Signals) => { this.#receive(signal) }
    for (const signal of STOP_SIGNALS) process.on(signal, listener)
    const stopWatching = watchNpm(() => { if (!this.#isStopping) this.#receive('SIGTERM') })
    // Any one ready process may take the line, because all processes share one log.
    const stopReading = readLines(
      this.#options.log, (line) => { this.#slots.some(({ slot }) => slot.forwardLine(line)) }
    )
    try {
      // Its modules load while the database starts.
      this.#firstWeb.startProcess()
      await this.#startDatabase()
      if (!this.#isStopping) this.#order(this.#firstWeb, 1)
      const { code, failure } = await this.#end.promise
      if (failure !== null) throw failure
      return code
    } finally {
      await this.#shutDown()
      stopReading()
      stopWatching()
      for (const signal of STOP_SIGNALS) process.off(signal, listener)
    }
  }

  async #startDatabase (): Promise<void> {
    const { config, log } = this.#options
    this.#socketFolder = await openSocketFolder(config)
    const opening = openDatabase(config, log, {
      onLost: () => { for (const { slot } of this.#slots) slot.pause() },
      onRestored: () => {
        this.#writeState()
        for (const { slot, number } of this.#slots) {
          if (!this.#waiting.some((waiting) => waiting.slot === slot)) this.#order(slot, number)
        }
      },
      onRestartImpossible: (reason) => { this.#fail(`The embedded database cannot run: ${reason}`) }
    }, this.#stopping.signal)
    this.#database = await opening.catch((err: unknown) => {
      // A stop during the start is no failure.
      if (this.#isStopping) return null
      throw err
    })
    if (this.#database !== null) this.#writeState()
  }

  #order (slot: Slot, number: number): void {
    if (this.#isStopping || this.#database === null) return
    slot.start({
      type: 'start',
      name: slot.name,
      settings: this.#options.settings,
      config_text: this.#database.isEmbedded ? this.#options.config.file.text : null,
      database_url: this.#database.url,
      database_pid: this.#database.pid,
      migrate: this.#ready === null,
      host_id: this.#hostId,
      worker_number: number,
      socket_dir: this.#socketFolder?.path ?? '',
      port: this.#port,
      // With an external database, the worker also works for other hosts.
      rest_ms: this.#database.isEmbedded ? this.#options.config.server.worker_rest_minutes * MINUTE_MS : 0,
      // Packages that are installed later take effect at the next start, in all processes at once.
      installed: this.#ready?.installed ?? null,
      woken_after_ms: null
    })
  }

  #fillNext (): void {
    clearTimeout(this.#patience)
    const next = this.#waiting.shift()
    if (next === undefined) return
    this.#order(next.slot, next.number)
    this.#patience = setTimeout(() => { this.#fillNext() }, START_WAIT_MS)
  }

  /** Lists the slots without the one of a resting process. */
  #listUsed (): Slot[] {
    return this.#slots.map(({ slot }) => slot).filter((slot) => !slot.isResting)
  }

  #listWebs () {
    return this.#slots.filter(({ number }) => number > 0)
  }

  #grow (): void {
    const { config, log } = this.#options
    const number = this.#listWebs().length + 1
    if (number > config.server.workers) return
    log.info({ process: `web worker ${number}` }, 'all web workers are busy, another one starts')
    this.#order(this.#addWeb(number, { onReady: () => {}, onLost: () => {} }), number)
  }

  /** Starts all other processes, because the first web worker listens. */
  #open (message: ReadyMessage): void {
    if (this.#ready !== null) return
    this.#ready = message
    this.#writeState()
    // Orders the first slot again without the migration, because its replacement finds a migrated database.
    this.#order(this.#firstWeb, 1)
    this.#bannerTimer = setTimeout(() => { this.#announce(message) }, BANNER_WAIT_MS)
    this.#fillNext()
  }

  #announce (message: ReadyMessage): void {
    if (this.#bannerTimer === undefined) return
    clearTimeout(this.#bannerTimer)
    this.#bannerTimer = undefined
    releaseStartMemory()
    const { config, announce } = this.#options
    announce(renderBanner({
      config,
      port: this.#port,
      isEmbedded: this.#database?.isEmbedded ?? false,
      setupCode: message.setup_code,
      // Only web workers know, and this may be the message of the scan worker.
      hasPages: this.#ready?.has_pages ?? false,
      plugins: message.plugins
    }))
  }

  #writeState (): void {
    const { config } = this.#options
    const port = this.#ready === null ? null : this.#port
    writeServerState(config.data_dir, {
      pid: process.pid,
      started_at: this.#startedAt,
      port,
      url: port === null ? null : listenUrl(config, port),
      database_url: this.#database?.url ?? ''
    })
  }

  #receive (signal: NodeJS.Signals): void {
    const { log } = this.#options
    const now = performance.now()
    if (this.#stoppedAt === 0) {
      this.#stoppedAt = now
      this.#stopping.abort()
      log.info({ signal }, 'svc stops: it finishes running requests and puts running tasks back into the queue')
      this.#end.resolve({ code: 0, failure: null })
    } else if (now - this.#stoppedAt > SAME_SIGNAL_MS) {
      log.warn({ signal }, 'svc ends without waiting for requests')
      for (const { slot } of this.#slots) slot.kill()
      this.#database?.kill()
      process.exit(1)
    }
  }

  async #shutDown (): Promise<void> {
    this.#stopping.abort()
    clearTimeout(this.#bannerTimer)
    clearTimeout(this.#patience)
    clearInterval(this.#growing)
    const kill = setTimeout(() => { for (const { slot } of this.#slots) slot.kill() },
      killMs(this.#options.config.server.drain_seconds))
    await Promise.all(this.#slots.map(({ slot }) => slot.stop()))
    clearTimeout(kill)
    await this.#database?.stop()
    this.#socketFolder?.remove()
    removeServerState(this.#options.config.data_dir)
  }
}

/**
 * Runs the whole server on this machine until it is told to stop.
 *
 * @returns the exit code
 * @throws StartError if it cannot start or continue; no process is left running then.
 */
export async function supervise (options: SuperviseOptions): Promise<number> {
  const { config } = options
  await createLayout(config)
  const lock = claimDataDir(config)
  try {
    clearOldSockets(config)
    // Removes the state of a killed server, because waiting commands must not take it for this server's.
    removeServerState(config.data_dir)
    return await new Run(options, await checkPort(config.server)).finish()
  } finally {
    lock.release()
  }
}
