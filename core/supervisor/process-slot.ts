import type { ChildProcess } from 'node:child_process'
import type { Logger } from 'pino'
import type { MetricSnapshot, ServerSnapshot } from '../metrics/metric-snapshot.ts'
import { ALIVE_MS, type ProcessMessage, type SupervisorMessage, type ReadyMessage, type StartMessage, isProcessMessage } from './messages.ts'

const RESTART_MIN_MS = 200
const RESTART_MAX_MS = 30_000
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
  /** Called when the process reported that it can never start. */
  onStartImpossible (message: string, exitCode: number): void
  /** Returns the metrics of all processes, which the process requested. */
  readAllMeasured? (): Promise<ServerSnapshot>
  /** Called when the process ended unexpectedly; `failures` counts those in a row that never got ready. */
  onLost? (failures: number): void
}

/** A slot that always runs one process, until it is stopped. */
export interface Slot {
  readonly name: string
  readonly pid: number | undefined
  /** The busy share of the process, 0 to 1, in the last interval; 0 if unknown. */
  readonly busy: number
  /** Starts a process now; it loads its modules and waits for its order. */
  startProcess (): void
  /** Sets the order for every process of this slot. Starts a process if the slot is empty. */
  start (start: StartMessage): void
  /** Starts no replacement for an ended process until the next order. */
  pause (): void
  /** Passes on a line of the supervisor's log if the process is ready. @returns true if it is */
  forwardLine (line: string): boolean
  /** Returns the metrics of the process; null if there is none or it does not answer in time. */
  readMeasured (ms: number): Promise<MetricSnapshot[] | null>
  /** Asks the process to close; resolves when it has ended. */
  stop (): Promise<void>
  kill (): void
}

/** Returns the restart delay, which doubles from 0.2 to 30 seconds with each death in a row. */
export const restartDelay = (exits: number) => Math.min(RESTART_MAX_MS, RESTART_MIN_MS * 2 ** Math.min(exits, 20))

export function createSlot (
  { name, fork, log, onReady, onStartImpossible, onLost, readAllMeasured }: SlotOptions
): Slot {
  let child: ChildProcess | null = null
  let current: StartMessage | null = null
  let isStopping = false
  let exits = 0
  let failures = 0
  let silentTicks = 0
  let busy = 0
  let isStarting = true
  let restart: NodeJS.Timeout | undefined
  let lastRequest = 0
  const pendingRequests = new Map<number, (measured: MetricSnapshot[] | null) => void>()
  let resolveExited: () => void = () => {}
  const exited = new Promise<void>((resolve) => { resolveExited = resolve })

  function sendMessage (message: SupervisorMessage): void {
    child?.send(message, (err) => {
      // The process may be dying just now; its exit is what counts.
      if (err !== null) log.debug({ err, process: name }, 'the process could not be sent an order')
    })
  }

  function receive (message: ProcessMessage): void {
    silentTicks = 0
    if (message.type === 'alive') busy = message.busy
    if (message.type === 'failed') onStartImpossible(message.message, message.exit_code)
    if (message.type === 'measured') pendingRequests.get(message.id)?.(message.measured)
    if (message.type === 'measure_all') void answerAll(message.id)
    if (message.type !== 'ready') return
    failures = 0
    isStarting = false
    onReady(message)
  }

  async function answerAll (id: number): Promise<void> {
    const server = await readAllMeasured?.()
    if (server !== undefined) sendMessage({ type: 'all_measured', id, server })
  }

  function watch (watched: ChildProcess): NodeJS.Timeout {
    return setInterval(() => {
      if (++silentTicks < (isStarting ? STARTING_TICKS_MAX : SILENT_TICKS_MAX)) return
      log.error({ process: name, child: watched.pid }, 'the process does not respond and is killed')
      watched.kill('SIGKILL')
    }, ALIVE_MS)
  }

  function startProcess (): void {
    if (child !== null || isStopping) return
    clearTimeout(restart)
    const startedAt = performance.now()
    const started = fork()
    child = started
    silentTicks = 0
    isStarting = true
    const watchdog = watch(started)
    started.on('message', (message) => { if (isProcessMessage(message)) receive(message) })
    started.on('error', (err) => { log.error({ err, process: name }, 'the process could not be started or reached') })
    started.once('exit', (code, signal) => {
      clearInterval(watchdog)
      child = null
      busy = 0
      handleExit(performance.now() - startedAt, { child: started.pid, code, signal })
    })
    if (current !== null) sendMessage(current)
  }

  function handleExit (lifeMs: number, facts: object): void {
    if (isStopping) {
      resolveExited()
      return
    }
    if (lifeMs > STEADY_MS) exits = 0
    const delayMs = restartDelay(exits++)
    failures++
    log.error({ process: name, ...facts, restartMs: delayMs }, 'the process ended and is restarted')
    onLost?.(failures)
    if (current !== null) restart = setTimeout(startProcess, delayMs)
  }

  function requestMetrics (ms: number): Promise<MetricSnapshot[] | null> {
    const { promise, resolve } = Promise.withResolvers<MetricSnapshot[] | null>()
    const id = ++lastRequest
    const timeout = setTimeout(() => { resolve(null) }, ms)
    pendingRequests.set(id, resolve)
    sendMessage({ type: 'measure', id })
    return promise.finally(() => {
      clearTimeout(timeout)
      pendingRequests.delete(id)
    })
  }

  return {
    name,
    get pid () { return child?.pid },
    get busy () { return isStarting ? 0 : busy },
    startProcess,
    start (start) {
      current = start
      if (child === null) startProcess()
      else sendMessage(start)
    },
    pause () {
      current = null
      clearTimeout(restart)
    },
    forwardLine (line) {
      if (child === null || isStarting) return false
      // Errors are ignored: the process may be dying just now, and a log line about that would be passed on in turn.
      child.send({ type: 'line', line } satisfies SupervisorMessage, () => {})
      return true
    },
    async readMeasured (ms) {
      return child === null || isStarting ? null : await requestMetrics(ms)
    },
    async stop () {
      isStopping = true
      clearTimeout(restart)
      if (child === null) return
      sendMessage({ type: 'stop' })
      await exited
    },
    kill () { child?.kill('SIGKILL') }
  }
}
