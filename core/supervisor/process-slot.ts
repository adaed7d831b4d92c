import type { ChildProcess } from 'node:child_process'
import type { Logger } from 'pino'
import type { Measured, ServerMeasured } from '../metrics/metric-snapshot.ts'
import { ALIVE_MS, type News, type Order, type ReadyNews, type StartOrder, isNews } from './messages.ts'

const RESTART_MIN_MS = 200
const RESTART_MAX_MS = 30_000
/** A process that lived this long starts with a clean sheet. */
const STEADY_MS = 60_000
/** Ticks without a word after which a process counts as hung. Ticks, not time: a machine may sleep. */
const SILENT_TICKS_MAX = 12
/** The same while it starts: its modules load without a pause, for minutes on a slow or busy machine. */
const STARTING_TICKS_MAX = 60

export interface SlotOptions {
  name: string
  fork (): ChildProcess
  log: Logger
  onReady (news: ReadyNews): void
  /** It said that it can never start. */
  onHopeless (message: string, exitCode: number): void
  /** It wants to know what all processes measured. */
  readAllMeasured? (): Promise<ServerMeasured>
  /** It ended unasked; `failures` counts those in a row that never got ready. */
  onLost? (failures: number): void
}

/** A place that always has one process in it, until it is stopped. */
export interface Slot {
  readonly name: string
  readonly pid: number | undefined
  /** The share of its time that the process worked lately, 0 to 1; 0 when that is not known. */
  readonly busy: number
  /** Starts a process now; it loads its modules and waits for its order. */
  fill (): void
  /** What every process of this place is told to do. Fills the place when it is empty. */
  order (start: StartOrder): void
  /** Until the next order no process is started in place of one that ends. */
  pause (): void
  /** Passes on a line of the supervisor's log, once the process is ready. @returns whether it is */
  pass (line: string): boolean
  /** What the process measured; null when it does not say so in time, or there is none. */
  readMeasured (ms: number): Promise<Measured[] | null>
  /** Asks the process to finish; fulfilled when it is gone. */
  stop (): Promise<void>
  kill (): void
}

/** Doubles from 0.2 to 30 seconds with each death in a row. */
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
      // It may be dying just now; its exit is what counts.
      if (err !== null) log.debug({ err, process: name }, 'process could not be told')
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
      log.error({ process: name, child: watched.pid }, 'process hangs and is killed')
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
    born.on('error', (err) => { log.error({ err, process: name }, 'process could not be started or told') })
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
    log.error({ process: name, ...facts, restartMs: delayMs }, 'process ended and is started again')
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
      // It may be dying just now: what is logged of that would be passed on in turn.
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
