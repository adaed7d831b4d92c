import type { ChildProcess } from 'node:child_process'
import type { Logger } from 'pino'
import { restartDelay } from '../process/restart-delay.ts'
import type { MetricSnapshot, ServerSnapshot } from '../metrics/metric-snapshot.ts'
import { ALIVE_MS, type ProcessMessage, type SupervisorMessage, type ReadyMessage, type StartMessage, isProcessMessage } from './messages.ts'

/** A process that lived this long resets the restart delay. */
const STEADY_MS = 60_000
/** Ticks without a message after which a process counts as hung. Ticks, not time, because a machine may sleep. */
const SILENT_TICKS_MAX = 12
/** The limit while a process starts: its modules load without a pause, for minutes on a slow or busy machine. */
const STARTING_TICKS_MAX = 60

export interface SlotOptions {
  name: string
  fork (): ChildProcess
  log: Logger
  onReady (message: ReadyMessage): void
  /** True if the server goes on without the process: after the first start, a start that is impossible is repeated. */
  isOptional?: boolean
  /** Called when the process reported that it can never start. */
  onStartImpossible (message: string, exitCode: number): void
  /** Returns the metrics of all processes, which the process requested. */
  readAllMeasured? (): Promise<ServerSnapshot>
  /** Called with each message of the process. */
  onMessage? (message: ProcessMessage): void
  /** Called when the process ended because it was told to rest. */
  onRest? (): void
  /** Called when the process ended unexpectedly; `failures` counts those in a row that never got ready. */
  onLost? (failures: number): void
}

interface ExitFacts { child: number | undefined, code: number | null, signal: NodeJS.Signals | null }

/** A slot that always runs one process, until it is stopped. The process may rest. */
export class Slot {
  readonly name: string
  readonly #options: SlotOptions
  readonly #pendingRequests = new Map<number, (measured: MetricSnapshot[] | null) => void>()
  readonly #exited = Promise.withResolvers<undefined>()
  #child: ChildProcess | null = null
  /** The order for every process of this slot; null while it is paused. */
  #order: StartMessage | null = null
  #isStopping = false
  #isStarting = true
  #exits = 0
  #failures = 0
  #silentTicks = 0
  #busy = 0
  #restart: NodeJS.Timeout | undefined
  #lastRequest = 0
  /** True once the process was told to rest, until it starts again. */
  #isResting = false
  /** True if the next process starts because the resting one is needed. */
  #isWoken = false
  #firstReadyAt: number | null = null

  constructor (options: SlotOptions) {
    this.name = options.name
    this.#options = options
  }

  get isReady (): boolean { return this.#child !== null && !this.#isStarting }

  /** True if the process ended because it was told to rest. */
  get isResting (): boolean { return this.#isResting && this.#child === null }

  get pid (): number | undefined { return this.#child?.pid }

  /** The busy share of the process, 0 to 1, in the last interval; 0 if unknown. */
  get busy (): number { return this.#isStarting ? 0 : this.#busy }

  /** Starts a process now; it loads its modules and waits for its order. */
  startProcess (): void {
    if (this.#child !== null || this.#isStopping) return
    clearTimeout(this.#restart)
    const { name, log, fork } = this.#options
    const startedAt = performance.now()
    const started = fork()
    this.#child = started
    this.#silentTicks = 0
    this.#isStarting = true
    const watchdog = setInterval(() => { this.#checkAlive(started) }, ALIVE_MS)
    started.on('message', (message) => { if (isProcessMessage(message)) this.#receive(message) })
    started.on('error', (err) => { log.error({ err, process: name }, 'the process could not be started or reached') })
    started.once('exit', (code, signal) => {
      clearInterval(watchdog)
      this.#child = null
      this.#busy = 0
      this.#handleExit(performance.now() - startedAt, { child: started.pid, code, signal })
    })
    this.#isResting = false
    if (this.#order !== null) this.#sendOrder(this.#order)
  }

  /** Sets the order for every process of this slot. Starts a process if the slot is empty. */
  start (order: StartMessage): void {
    this.#order = order
    if (this.#child === null) this.startProcess()
    else this.#sendOrder(order)
  }

  /** Starts no replacement for an ended process until the next order. */
  pause (): void {
    this.#order = null
    clearTimeout(this.#restart)
  }

  /** Tells the process to end, unless it has work. No replacement starts before `wake`. */
  rest (): void {
    if (!this.isReady || this.#isResting) return
    this.#isResting = true
    this.#isWoken = false
    this.send({ type: 'rest' })
  }

  /** The process did not end, because it has work. */
  stay (): void {
    this.#isResting = false
    this.#isWoken = false
  }

  /** Starts a resting process, or replaces one that is about to rest. @returns true if it rests or was told to */
  wake (): boolean {
    if (!this.#isResting) return false
    this.#isWoken = true
    if (this.#child === null && this.#order !== null) this.startProcess()
    return true
  }

  /** Passes on a line of the supervisor's log if the process is ready. @returns true if it is */
  forwardLine (line: string): boolean {
    if (this.#child === null || this.#isStarting) return false
    // Errors are ignored: the process may be dying just now, and a log line about that would be passed on in turn.
    this.#child.send({ type: 'line', line } satisfies SupervisorMessage, () => {})
    return true
  }

  /** Returns the metrics of the process; null if there is none or it does not answer in time. */
  async readMeasured (ms: number): Promise<MetricSnapshot[] | null> {
    if (this.#child === null || this.#isStarting) return null
    const { promise, resolve } = Promise.withResolvers<MetricSnapshot[] | null>()
    const id = ++this.#lastRequest
    const timeout = setTimeout(() => { resolve(null) }, ms)
    this.#pendingRequests.set(id, resolve)
    this.send({ type: 'measure', id })
    return await promise.finally(() => {
      clearTimeout(timeout)
      this.#pendingRequests.delete(id)
    })
  }

  /** Asks the process to close; resolves when it has ended. */
  async stop (): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#restart)
    if (this.#child === null) return
    this.send({ type: 'stop' })
    await this.#exited.promise
  }

  kill (): void { this.#child?.kill('SIGKILL') }

  send (message: SupervisorMessage): void {
    this.#child?.send(message, (err) => {
      // The process may be dying just now; its exit is what counts.
      if (err !== null) this.#options.log.debug({ err, process: this.name }, 'the process could not be sent an order')
    })
  }

  #sendOrder (order: StartMessage): void {
    const isWoken = this.#isWoken && this.#firstReadyAt !== null
    this.send(isWoken ? { ...order, woken_after_ms: performance.now() - (this.#firstReadyAt ?? 0) } : order)
  }

  #receive (message: ProcessMessage): void {
    this.#silentTicks = 0
    this.#options.onMessage?.(message)
    if (message.type === 'alive') this.#busy = message.busy
    if (message.type === 'failed') this.#handleFailure(message.message, message.exit_code)
    if (message.type === 'measured') this.#pendingRequests.get(message.id)?.(message.measured)
    if (message.type === 'measure_all') void this.#answerAll(message.id)
    if (message.type !== 'ready') return
    this.#failures = 0
    this.#isStarting = false
    this.#firstReadyAt ??= performance.now()
    this.#options.onReady(message)
  }

  #handleFailure (reason: string, exitCode: number): void {
    const { name, log, isOptional, onStartImpossible } = this.#options
    if (isOptional === true && this.#firstReadyAt !== null) log.error({ process: name, reason }, 'the process cannot start')
    else onStartImpossible(reason, exitCode)
  }

  async #answerAll (id: number): Promise<void> {
    const server = await this.#options.readAllMeasured?.()
    if (server !== undefined) this.send({ type: 'all_measured', id, server })
  }

  /** Kills a process that sent no message for too many ticks. */
  #checkAlive (watched: ChildProcess): void {
    if (++this.#silentTicks < (this.#isStarting ? STARTING_TICKS_MAX : SILENT_TICKS_MAX)) return
    this.#options.log.error({ process: this.name, child: watched.pid }, 'the process does not respond and is killed')
    watched.kill('SIGKILL')
  }

  #handleExit (lifeMs: number, facts: ExitFacts): void {
    if (this.#isStopping) {
      this.#exited.resolve(undefined)
      return
    }
    if (this.#isResting && facts.code === 0) {
      this.#options.onRest?.()
      if (this.#isWoken) this.wake()
      else this.#options.log.info({ process: this.name }, 'the process ended until there is work for it')
      return
    }
    this.stay()
    if (lifeMs > STEADY_MS) this.#exits = 0
    const delayMs = restartDelay(this.#exits++)
    this.#failures++
    this.#options.log.error({ process: this.name, ...facts, restartMs: delayMs }, 'the process ended and is restarted')
    this.#options.onLost?.(this.#failures)
    if (this.#order !== null) this.#restart = setTimeout(() => { this.startProcess() }, delayMs)
  }
}
