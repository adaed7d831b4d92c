import { type ChildProcess, fork } from 'node:child_process'
import cluster from 'node:cluster'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { StartError } from './errors.ts'
import { explainListenError } from './listen-errors.ts'
import { SERVER_DIR } from './plugin-packages.ts'
import { type BannerFacts, listenUrl, renderBanner } from './supervisor-banner.ts'
import { type Database, openDatabase } from './supervisor-database.ts'
import { clearOldSockets, createLayout, openSocketFolder } from './supervisor-folders.ts'
import { lockDataDir } from './supervisor-lock.ts'
import type { ReadyNews, StartOrder } from './supervisor-messages.ts'
import { type Slot, createSlot } from './supervisor-slot.ts'
import { readLastState, removeServerState, writeServerState } from './supervisor-state.ts'

export interface SuperviseOptions {
  config: Config
  log: Logger
  /** Gets the text for the owner once the server is up. */
  announce (text: string): void
}

const ENTRY = join(SERVER_DIR, 'core', 'supervisor-child.ts')
const NODE_FLAGS = ['--conditions=svc:source', '--disable-warning=ExperimentalWarning']
/** What processes get to finish; with the database's own end it stays below ten seconds. */
const DRAIN_MS = 8_000
/** npm and the terminal both pass Ctrl-C on: two signals within this time are one. */
const SAME_SIGNAL_MS = 1_000
/** First processes that fail in a row before the start is given up. */
const FIRST_FAILURES_MAX = 5
/** The banner does not wait longer for the scan worker, which knows most about plugins. */
const BANNER_WAIT_MS = 10_000
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const TEMPORARY = 75

function claim (config: Config) {
  const lock = lockDataDir(config.data_dir)
  if (lock !== null) return lock
  const state = readLastState(config.data_dir)
  const who = state === null ? '' : ` (process ${state.pid}, since ${state.started_at})`
  const remedy = state === null ? 'Stop it' : `Stop it with kill ${state.pid}`
  throw new StartError(`svc is already running on ${config.data_dir}${who}. ${remedy}, or set SVC_DATA_DIR to another ` +
    'folder.', { exitCode: TEMPORARY })
}

/** Fails early, before a database is made for nothing. */
async function checkPort ({ host, port }: Config['server']): Promise<void> {
  const probe = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject)
      probe.listen({ host, port }, resolve)
    })
  } catch (err) {
    throw explainListenError(err, host, port)
  }
  await new Promise((resolve) => probe.close(resolve))
}

function forkWeb (): ChildProcess {
  cluster.setupPrimary({ exec: ENTRY, args: ['web'], execArgv: NODE_FLAGS, windowsHide: true })
  return cluster.fork().process
}

const forkWorker = () => fork(ENTRY, ['worker'], { execArgv: NODE_FLAGS })

/**
 * Runs the whole server on this machine until it is told to stop.
 *
 * @returns the exit code
 * @throws StartError when it cannot start; nothing is left running then.
 */
export async function supervise ({ config, log, announce }: SuperviseOptions): Promise<number> {
  createLayout(config)
  const lock = claim(config)
  const { promise: ended, resolve: endWith } = Promise.withResolvers<{ code: number, failure: StartError | null }>()
  const hopeless = (message: string, exitCode = 1) => { endWith({ code: exitCode, failure: new StartError(message, { exitCode }) }) }
  const startedAt = new Date().toISOString()
  let database: Database | null = null
  let port: number | null = null
  let isStopping = false
  let socketDir = ''
  let firstReady: ReadyNews | null = null
  let workerReady: (news: ReadyNews) => void = () => {}
  const workerIsReady = new Promise<ReadyNews>((resolve) => { workerReady = resolve })

  const slots: Slot[] = []
  const webSlots = Array.from({ length: config.server.workers }, (_, index) => addSlot(`web ${index + 1}`, forkWeb, onWebReady, onFirstLost))
  const workerSlot = addSlot('scan worker', forkWorker, (news) => { workerReady(news) })

  function addSlot (name: string, forkOne: () => ChildProcess, onReady: (news: ReadyNews) => void, onLost?: (failures: number) => void) {
    const slot = createSlot({ name, fork: forkOne, log, onReady, onHopeless: hopeless, ...(onLost === undefined ? {} : { onLost }) })
    slots.push(slot)
    return slot
  }
  return 0
}
