import type { ChildProcess } from 'node:child_process'
import type { Logger } from 'pino'
import type { Measured, ServerMeasured } from '../metrics/metric-snapshot.ts'
import { ALIVE_MS, type News, type Order, type ReadyNews, type StartOrder, isNews } from './messages.ts'

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
  onReady (news: ReadyNews): void
  /** Called when the process reported that it can never start. */
  onHopeless (message: string, exitCode: number): void
  /** Returns the metrics of all processes, which the process requested. */
  readAllMeasured? (): Promise<ServerMeasured>
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
  fill (): void
  /** Sets the order for every process of this slot. Starts a process if the slot is empty. */
  order (start: StartOrder): void
  /** Starts no replacement for an ended process until the next order. */
  pause (): void
  /** Passes on a line of the supervisor's log if the process is ready. @returns true if it is */
  pass (line: string): boolean
  /** Returns the metrics of the process; null if there is none or it does not answer in time. */
  readMeasured (ms: number): Promise<Measured[] | null>
  /** Asks the process to close; resolves when it has ended. */
  stop (): Promise<void>
  kill (): void
}

/** Returns the restart delay, which doubles from 0.2 to 30 seconds with each death in a row. */
export const restartDelay = (deaths: number) => Math.min(RESTART_MAX_MS, RESTART_MIN_MS * 2 ** Math.min(deaths, 20))

export function createSlot ({ name, fork, log, onReady, onHopeless, onLost, readAllMeasured }: SlotOptions): Slot {
  let child: ChildProcess | null = null
  let current: StartOrder | null = null
  let isStopping = false
  let deaths = 0
  let failures = 0
  let silentTicks = 0
  let busy = 0
  let isStarting = true
  let restart: NodeJS.Timeout | undefined
  let lastQuestion = 0
  const questions = new Map<number, (measured: Measured[] | null) => void>()
  let resolveGone: () => void = () => {}
  const gone = new Promise<void>((resolve) => { resolveGone = resolve })

  function tell (order: Order): void {
    child?.send(order, (err) => {
      // The process may be dying just now; its exit is what counts.
      if (err !== null) log.debug({ err, process: name }, 'the process could not be sent an order')
    })
  }

  function receive (news: News): void {
    silentTicks = 0
    if (news.type === 'alive') busy = news.busy
    if (news.type === 'failed') onHopeless(news.message, news.exit_code)
    if (news.type === 'measured') questions.get(news.id)?.(news.measured)
    if (news.type === 'measure_all') void answerAll(news.id)
    if (news.type !== 'ready') return
    failures = 0
    isStarting = false
    onReady(news)
  }

  async function answerAll (id: number): Promise<void> {
    const server = await readAllMeasured?.()
    if (server !== undefined) tell({ type: 'all_measured', id, server })
  }

  function watch (watched: ChildProcess): NodeJS.Timeout {
    return setInterval(() => {
      if (++silentTicks < (isStarting ? STARTING_TICKS_MAX : SILENT_TICKS_MAX)) return
      log.error({ process: name, child: watched.pid }, 'the process does not respond and is killed')
      watched.kill('SIGKILL')
    }, ALIVE_MS)
  }

  function fill (): void {
    if (child !== null || isStopping) return
    clearTimeout(restart)
    const startedAt = performance.now()
    const born = fork()
    child = born
    silentTicks = 0
    isStarting = true
    const watchdog = watch(born)
    born.on('message', (message) => { if (isNews(message)) receive(message) })
    born.on('error', (err) => { log.error({ err, process: name }, 'the process could not be started or reached') })
    born.once('exit', (code, signal) => {
      clearInterval(watchdog)
      child = null
      busy = 0
      bury(performance.now() - startedAt, { child: born.pid, code, signal })
    })
    if (current !== null) tell(current)
  }

  function bury (lifeMs: number, facts: object): void {
    if (isStopping) {
      resolveGone()
      return
    }
    if (lifeMs > STEADY_MS) deaths = 0
    const delayMs = restartDelay(deaths++)
    failures++
    log.error({ process: name, ...facts, restartMs: delayMs }, 'the process ended and is restarted')
    onLost?.(failures)
    if (current !== null) restart = setTimeout(fill, delayMs)
  }

  function ask (ms: number): Promise<Measured[] | null> {
    const { promise, resolve } = Promise.withResolvers<Measured[] | null>()
    const id = ++lastQuestion
    const late = setTimeout(() => { resolve(null) }, ms)
    questions.set(id, resolve)
    tell({ type: 'measure', id })
    return promise.finally(() => {
      clearTimeout(late)
      questions.delete(id)
    })
  }

  return {
    name,
    get pid () { return child?.pid },
    get busy () { return isStarting ? 0 : busy },
    fill,
    order (start) {
      current = start
      if (child === null) fill()
      else tell(start)
    },
    pause () {
      current = null
      clearTimeout(restart)
    },
    pass (line) {
      if (child === null || isStarting) return false
      // Errors are ignored: the process may be dying just now, and a log line about that would be passed on in turn.
      child.send({ type: 'line', line } satisfies Order, () => {})
      return true
    },
    async readMeasured (ms) {
      return child === null || isStarting ? null : await ask(ms)
    },
    async stop () {
      isStopping = true
      clearTimeout(restart)
      if (child === null) return
      tell({ type: 'stop' })
      await gone
    },
    kill () { child?.kill('SIGKILL') }
  }
}
