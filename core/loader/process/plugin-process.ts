import { AsyncLocalStorage } from 'node:async_hooks'
import { type ChildProcess, fork } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Logger, type ProviderContext, ServiceDownError } from '@svc/plugin-sdk'
import PQueue from 'p-queue'
import { SERVER_DIR } from '../../server-dir.ts'
import { restartDelay } from '../../supervisor/slot.ts'
import { NEVER, limitTime } from '../limit-time.ts'
import { LoadError, limitLoading } from '../load-error.ts'
import type { PluginPackage } from '../packages.ts'
import type { CallFacts } from './context.ts'
import { askContext, isOfOneCall } from './context-calls.ts'
import { type Descriptor, METHODS } from './descriptor.ts'
import { listReadable } from './folders.ts'
import { type Incoming, type Message, type Peer, createPeer } from './peer.ts'

const ENTRY = join(SERVER_DIR, 'core', 'loader', 'process', 'entry.ts')
/** Of the heap, and of everything together. */
const HEAP_MIB = 256
const MEMORY_MIB = 512
/** Node 20 has it under another name, as an experiment: too little to rely on. */
const PERMISSION = '--permission'
const FLAGS = [PERMISSION, '--conditions=svc:source', '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=4', `--max-old-space-size=${HEAP_MIB}`]
/** A machine that starts many of them is slow: the plugin's own time begins afterwards. */
const BOOT_MS = 30_000
const BOOTS_AT_ONCE = 2
/** What the starts of so many may take together. */
export const bootsMs = (count: number) => Math.ceil(count / BOOTS_AT_ONCE) * BOOT_MS
const PING_MS = 5_000
/** Of methods that only look at their arguments. */
const QUICK_MS = 5_000
/** A process that lived this long is restarted as if it had never ended. */
const STEADY_MS = 60_000
const OUT_OF_MEMORY = 90

/** Dates are read as they are in the server; all else that is set there is none of a plugin's business. */
const environment = () => process.env.TZ === undefined ? {} : { TZ: process.env.TZ }

const boots = new PQueue({ concurrency: BOOTS_AT_ONCE })

export interface PluginProcessOptions {
  pack: PluginPackage & { entry: string }
  log: Pick<Logger, 'warn' | 'info'>
  /** Hears why it is down, and null when it works again. */
  onChange? (reason: string | null): void
  /** How long importing it may take. */
  importMs: number
  /** How long it may be silent, at most, that was asked whether it still answers. */
  pingMs?: number | undefined
  /** How long it stays ended. */
  restartMs?: ((deaths: number) => number) | undefined
}

interface Running { child: ChildProcess, peer: Peer, startedAt: number }

/** What a call was made with: its context, and what runs code on behalf of its caller. */
interface Scope { ctx: ProviderContext, run: ReturnType<typeof AsyncLocalStorage.snapshot> }

/** By the number of the call. */
type Scopes = Map<number, Scope>

function explainExit (code: number | null, signal: NodeJS.Signals | null): string {
  if (code === OUT_OF_MEMORY) return `it took more than ${MEMORY_MIB} MiB of memory`
  if (signal === 'SIGABRT') return `it ended itself, perhaps for want of more than ${HEAP_MIB} MiB of memory`
  return `it ended with ${signal ?? `code ${code}`}`
}

/** The process that one plugin runs in: started again when it ends, ended when it hangs. */
export function createPluginProcess (options: PluginProcessOptions) {
  const { pack, log, importMs, onChange = () => {}, pingMs = PING_MS, restartMs = restartDelay } = options
  const scopes: Scopes = new Map()
  const memos = new WeakMap<ProviderContext['memo'], number>()
  let lastMemo = 0
  let running: Running | null = null
  /** Gives a context for setting it up; null until that was asked for. */
  let openContext: (() => ProviderContext) | null = null
  /** The one it was last set up with, whose lasting parts work at any time. */
  let lasting: ProviderContext | null = null
  let downBecause = 'it was not started'
  let lastWords: string | null = null
  let isClosed = false
  let isPinging = false
  let deaths = 0
  let restart: NodeJS.Timeout | undefined

  const downError = () => new ServiceDownError(`The process of the plugin ${pack.name} is down: ${downBecause}`)

  function serve ({ method, args, scope }: Incoming): unknown {
    if (method === 'fatal') {
      lastWords = String(args[0])
      return undefined
    }
    const call = scopes.get(scope)
    if (call !== undefined) return call.run(() => askContext(call.ctx, method, args))
    if (lasting === null || isOfOneCall(method)) throw new Error('This context was given for one call, which is over')
    return askContext(lasting, method, args)
  }

  async function boot (): Promise<Running> {
    const ready = Promise.withResolvers<undefined>()
    lastWords = null
    if (!process.allowedNodeEnvironmentFlags.has(PERMISSION)) {
      throw new LoadError('unsupported', `Node ${process.version} cannot keep it from what is not its own; ` +
        'start the server with the Node that comes with it, or with 22.13 or later')
    }
    const readable = await listReadable(pack)
    if (isClosed) throw downError()
    const child = fork(ENTRY, [String(MEMORY_MIB)], {
      execArgv: [...FLAGS, ...readable.map((path) => `--allow-fs-read=${path}`)],
      env: environment(), cwd: realpathSync(pack.folder), serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc']
    })
    const peer = createPeer({
      send: (message) => { child.send(message, () => { /* its exit is what counts */ }) },
      serve: (call) => {
        if (call.method === 'ready') ready.resolve(undefined)
        else return serve(call)
      },
      onAbort: () => { void ping(started) }
    })
    const started: Running = { child, peer, startedAt: performance.now() }
    child.on('message', (message) => { peer.receive(message as Message) })
    // What cannot be told ends it, or has ended it.
    child.on('error', (err) => {
      child.kill('SIGKILL')
      ready.reject(err)
    })
    child.once('exit', (code, signal) => {
      const reason = lastWords ?? explainExit(code, signal)
      ready.reject(new Error(reason))
      bury(started, reason)
    })
    running = started
    await limitLoading('the start of its process', BOOT_MS, () => ready.promise)
    return started
  }

  function bury (dead: Running, reason: string): void {
    if (running === dead) downBecause = isStuck.has(dead.child) ? `it did not answer for ${pingMs / 1_000} s` : reason
    dead.peer.fail(downError())
    if (running !== dead) return
    running = null
    if (performance.now() - dead.startedAt > STEADY_MS) deaths = 0
    scheduleRestart()
  }

  const isStuck = new WeakSet<ChildProcess>()

  /** Ends it when it does not answer a question that needs no thought. */
  async function ping (asked: Running): Promise<void> {
    if (isPinging) return
    isPinging = true
    try {
      await limitTime('It is silent for', pingMs, NEVER, () => asked.peer.call('ping', []))
    } catch {
      if (running === asked) isStuck.add(asked.child)
      asked.child.kill('SIGKILL')
    } finally {
      isPinging = false
    }
  }

  function scheduleRestart (): void {
    if (isClosed || openContext === null) return
    const delayMs = restartMs(deaths++)
    log.warn({ plugin: pack.name, reason: downBecause, restartMs: delayMs }, 'plugin ended and is started again')
    onChange(`${downBecause}; it is started again`)
    restart = setTimeout(() => { void tryAgain() }, delayMs).unref()
  }

  async function tryAgain (): Promise<void> {
    try {
      await load()
      await prepare()
      onChange(null)
    } catch (err) {
      if (isClosed) return
      downBecause = err instanceof Error ? err.message : String(err)
      // One that ended by itself is on its way already.
      if (running === null) return
      const { child } = running
      running = null
      child.kill('SIGKILL')
      scheduleRestart()
    }
  }

  async function load (): Promise<Descriptor | null> {
    const { peer } = await boots.add(boot)
    return await limitLoading('loading it', importMs, () =>
      peer.call('import', [pathToFileURL(pack.entry).href])) as Descriptor | null
  }

  function memoOf (memo: ProviderContext['memo']): number {
    const known = memos.get(memo)
    if (known !== undefined) return known
    memos.set(memo, ++lastMemo)
    return lastMemo
  }

  const factsOf = ({ memo, config, preferences, options: given, found, folders }: ProviderContext): CallFacts =>
    ({ memo: memoOf(memo), config, preferences, options: given, found, folders: Object.keys(folders) })

  interface Opened { peer: Peer, args: readonly unknown[], ctx: ProviderContext | undefined }

  function open (method: string, args: readonly unknown[]): Opened {
    if (running === null) throw downError()
    const at = METHODS[method]
    const ctx = typeof at === 'number' ? args[at] as ProviderContext | undefined : undefined
    return { peer: running.peer, args: typeof at === 'number' && ctx !== undefined ? args.with(at, factsOf(ctx)) : args, ctx }
  }

  /** Begins a call; the process may ask its context until `end`. */
  function begin (method: string, given: readonly unknown[]): { answer: Promise<unknown>, end: () => void } {
    const { peer, args, ctx } = open(method, given)
    let scope = 0
    const onId = (id: number) => {
      scope = id
      if (ctx !== undefined) scopes.set(id, { ctx, run: AsyncLocalStorage.snapshot() })
    }
    const answer = peer.call(method, args, { signal: ctx?.signal ?? AbortSignal.timeout(QUICK_MS), onId })
    return { answer, end: () => { scopes.delete(scope) } }
  }

  async function call (method: string, given: readonly unknown[]): Promise<unknown> {
    const { answer, end } = begin(method, given)
    try {
      return await answer
    } finally {
      end()
    }
  }

  /** The same for a method that gives its answer piece by piece: its context lasts until the last was read. */
  async function * stream (method: string, given: readonly unknown[]): AsyncGenerator<unknown> {
    const { answer, end } = begin(method, given)
    try {
      yield * await answer as AsyncIterable<unknown>
    } finally {
      end()
    }
  }

  async function prepare (): Promise<void> {
    const ctx = openContext?.() ?? null
    lasting = ctx
    if (ctx !== null) await call('setup', [ctx])
  }

  function end (): void {
    isClosed = true
    clearTimeout(restart)
    running?.child.kill('SIGKILL')
  }

  return {
    /** Starts it and has it import the plugin. @returns null when the package exports no plugin */
    load,
    /** Sets the plugin up, now and whenever it is started again. @param create gives a context to do it with */
    async setUp (create: () => ProviderContext): Promise<void> {
      openContext = create
      await prepare()
    },
    /** Calls a method of the plugin's definition. @throws ServiceDownError while the process is down */
    call: (method: string) => (...args: unknown[]): unknown => method === 'index.build' ? stream(method, args) : call(method, args),
    /** Has the plugin close, and ends it. */
    async close (): Promise<void> {
      isClosed = true
      clearTimeout(restart)
      if (running !== null && openContext !== null) await call('close', []).finally(end)
      end()
    },
    end,
    get pid () { return running?.child.pid }
  }
}
export type PluginProcess = ReturnType<typeof createPluginProcess>
