import { AsyncLocalStorage } from 'node:async_hooks'
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { Value } from '@sinclair/typebox/value'
import { type Logger, type ProviderContext, ServiceDownError } from '@svc/plugin-sdk'
import PQueue from 'p-queue'
import { SERVER_DIR } from '../../server-dir.ts'
import { DISABLE_DEBUGGER } from '../../node-flags.ts'
import { restartDelay } from '../../supervisor/process-slot.ts'
import { NEVER, limitTime } from '../../limit-time.ts'
import { LoadError, limitLoading } from '../load-error.ts'
import type { PluginPackage } from '../packages.ts'
import { EXPOSE_INTERNALS } from './bindings.ts'
import { CHANNEL_FD, createChannel } from './channel.ts'
import type { CallFacts } from './context.ts'
import { callContext, isOfOneCall, isNotification } from './context-calls.ts'
import { type Descriptor, METHODS } from './descriptor.ts'
import { toPrintable } from './errors.ts'
import { listReadable } from './folders.ts'
import { createMessageLimits } from './message-limits.ts'
import { MessageSchema } from './messages.ts'
import { NODE_LEVEL, canConfine } from './node-level.ts'
import { type Incoming, type Peer, createPeer } from './peer.ts'
import { createRequestLimits } from './request-limits.ts'

const ENTRY = join(SERVER_DIR, 'core', 'loader', 'process', 'entry.ts')
/** The limit of the heap, and of all memory together. */
const HEAP_MIB = 256
const MEMORY_MIB = 512
const MEMORY_WATCH_MS = 250
/** The longest message of a plugin: an exporter's file, a batch of an index. */
const MESSAGE_MAX_BYTES = 32 * 1024 ** 2
/** The most bytes of responses that a plugin requested and does not read. */
const BACKLOG_MAX_BYTES = 128 * 1024 ** 2
/** The most calls of a plugin on its contexts at once: far more than a scan needs. */
const CALLS_MAX = 1_000
/** The most bytes of these calls' messages: more than any plugin sends at once. */
const CALLS_MAX_BYTES = 128 * 1024 ** 2
/** The longest reason that a plugin gives for its end. */
const FATAL_MESSAGE_MAX = 500
const FLAGS = ['--permission', EXPOSE_INTERNALS, '--no-experimental-sqlite', DISABLE_DEBUGGER, '--conditions=svc:source',
  '--disable-warning=ExperimentalWarning', '--max-semi-space-size=4', `--max-old-space-size=${HEAP_MIB}`]
/** A machine that starts many processes is slow, so the plugin's own time begins after the boot. */
const BOOT_MS = 30_000
const BOOTS_AT_ONCE = 2
/** Returns how long the starts of so many processes may take together. */
export const bootsMs = (count: number) => Math.ceil(count / BOOTS_AT_ONCE) * BOOT_MS
const PING_MS = 5_000
/** The timeout of methods that only check their arguments. */
const QUICK_MS = 5_000
/** A process that lived this long is restarted without backoff. */
const STEADY_MS = 60_000
const OUT_OF_MEMORY = 90

/** The time zone is the same as in the server; a plugin gets no other variable. */
const environment = () => process.env.TZ === undefined ? {} : { TZ: process.env.TZ }

const boots = new PQueue({ concurrency: BOOTS_AT_ONCE })

export interface PluginProcessOptions {
  pack: PluginPackage & { entry: string }
  log: Pick<Logger, 'warn' | 'info'>
  /** Called with the reason when the process is down, and with null when it works again. */
  onChange? (reason: string | null): void
  /** The time limit of the import. */
  importMs: number
  /** The longest time without a reply to a ping. */
  pingMs?: number | undefined
  /** Returns how long the process stays down after so many deaths. */
  restartMs?: ((crashes: number) => number) | undefined
}

interface Running { child: ChildProcess, peer: Peer, startedAt: number }

/** The context of a call, and a function that runs code in the async context of its caller. */
interface Scope { ctx: ProviderContext, run: ReturnType<typeof AsyncLocalStorage.snapshot> }

/** Scopes by the number of their call. */
type Scopes = Map<number, Scope>

const OVER_MEMORY = `it used more than ${MEMORY_MIB} MiB of memory`

/**
 * Returns the memory of a process, on Linux. Each process also watches its own memory, but code that never pauses
 * prevents that. https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
 */
function readMemory (pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kib === undefined ? undefined : Number(kib) * 1024
  } catch {
    // The process ended just now.
    return undefined
  }
}

function explainExit (code: number | null, signal: NodeJS.Signals | null): string {
  if (code === OUT_OF_MEMORY) return OVER_MEMORY
  if (signal === 'SIGABRT') return `it aborted itself, perhaps because it needed more than ${HEAP_MIB} MiB of memory`
  return `it ended with ${signal ?? `code ${code}`}`
}

/** Creates the process of one plugin. It is restarted when it ends, and killed when it hangs. */
export function createPluginProcess (options: PluginProcessOptions) {
  const { pack, log, importMs, onChange = () => {}, pingMs = PING_MS, restartMs = restartDelay } = options
  const scopes: Scopes = new Map()
  const allows = createMessageLimits((dropped, method) => {
    log.warn({ plugin: pack.name, method, dropped }, 'plugin sent too many log lines or reports; some were dropped')
  })
  const limitRequests = createRequestLimits()
  const memos = new WeakMap<ProviderContext['memo'], number>()
  let lastMemo = 0
  let running: Running | null = null
  /** Creates a context for the set-up; null until the set-up was requested. */
  let openContext: (() => ProviderContext) | null = null
  /** The context of the last set-up; its permanent parts work at any time. */
  let setupContext: ProviderContext | null = null
  let downReason = 'it was not started'
  let fatalMessage: string | null = null
  let isClosed = false
  let isPinging = false
  let crashes = 0
  let restart: NodeJS.Timeout | undefined

  const downError = () => new ServiceDownError(`The process of the plugin ${pack.name} is down: ${downReason}`)

  function serve ({ method, args, scope, isCall }: Incoming): unknown {
    if (method === 'fatal') {
      fatalMessage = toPrintable(String(args[0]), FATAL_MESSAGE_MAX)
      return undefined
    }
    if (!isCall && !isNotification(method)) throw new Error(`'${method}' returns a value; call it and wait for the value`)
    if (!allows(method)) return undefined
    const call = scopes.get(scope)
    if (call !== undefined) return call.run(() => callContext(call.ctx, method, args, limitRequests))
    if (setupContext === null || isOfOneCall(method)) throw new Error('This context belongs to one call, which has ended')
    return callContext(setupContext, method, args, limitRequests)
  }

  async function startProcess (): Promise<Running> {
    const ready = Promise.withResolvers<undefined>()
    fatalMessage = null
    if (!canConfine()) {
      throw new LoadError('unsupported', `Node ${process.version} cannot isolate the process of a plugin; ` +
        `start the server with Node ${NODE_LEVEL}, such as the newest 24 from https://nodejs.org`)
    }
    const readable = await listReadable(pack)
    if (isClosed) throw downError()
    const child = spawn(process.execPath, [...FLAGS, ...readable.map((path) => `--allow-fs-read=${path}`), ENTRY, String(MEMORY_MIB)], {
      env: environment(), cwd: realpathSync(pack.folder), stdio: ['ignore', 'ignore', 'ignore', 'overlapped'], windowsHide: true
    })
    const channel = createChannel(child.stdio[CHANNEL_FD] as Duplex, {
      onMessage (message, bytes) {
        Value.Assert(MessageSchema, message)
        peer.receive(message, bytes)
      },
      onFault: ({ message }) => { killBecause(child, message) },
      maxBytes: MESSAGE_MAX_BYTES,
      backlogBytes: BACKLOG_MAX_BYTES
    })
    const peer = createPeer({
      send: (message) => { channel.send(message) },
      serve: (call) => {
        if (call.method === 'ready') ready.resolve(undefined)
        else return serve(call)
      },
      onAbort: () => { void ping(started) },
      callsMax: CALLS_MAX,
      callsMaxBytes: CALLS_MAX_BYTES
    })
    const started: Running = { child, peer, startedAt: performance.now() }
    // A process that cannot be started emits no exit.
    child.on('error', (err) => {
      child.kill('SIGKILL')
      ready.reject(err)
    })
    const watch = setInterval(() => { watchMemory(child) }, MEMORY_WATCH_MS).unref()
    // Uses 'close', because at 'exit' its last messages may not have been read yet.
    child.once('close', (code, signal) => {
      clearInterval(watch)
      const reason = endReasons.get(child) ?? fatalMessage ?? explainExit(code, signal)
      ready.reject(new Error(reason))
      handleExit(started, reason)
    })
    running = started
    await limitLoading('the start of its process', BOOT_MS, () => ready.promise)
    return started
  }

  function handleExit (ended: Running, reason: string): void {
    if (running === ended) downReason = reason
    ended.peer.fail(downError())
    if (running !== ended) return
    running = null
    if (performance.now() - ended.startedAt > STEADY_MS) crashes = 0
    scheduleRestart()
  }

  /** The reasons for which this host killed processes. */
  const endReasons = new WeakMap<ChildProcess, string>()

  function killBecause (child: ChildProcess, reason: string): void {
    if (!endReasons.has(child)) endReasons.set(child, reason)
    child.kill('SIGKILL')
  }

  function watchMemory (child: ChildProcess): void {
    if (child.pid !== undefined && (readMemory(child.pid) ?? 0) > MEMORY_MIB * 1024 ** 2) {
      killBecause(child, OVER_MEMORY)
    }
  }

  /** Kills the process if it does not answer a ping. */
  async function ping (pinged: Running): Promise<void> {
    if (isPinging) return
    isPinging = true
    try {
      await limitTime('It is silent for', pingMs, NEVER, () => pinged.peer.call('ping', []))
    } catch {
      killBecause(pinged.child, `it did not answer for ${pingMs / 1_000} s`)
    } finally {
      isPinging = false
    }
  }

  function scheduleRestart (): void {
    if (isClosed || openContext === null) return
    const delayMs = restartMs(crashes++)
    log.warn({ plugin: pack.name, reason: downReason, restartMs: delayMs }, 'plugin process ended and is restarted')
    onChange(`${downReason}; it is restarted`)
    restart = setTimeout(() => { void tryAgain() }, delayMs).unref()
  }

  async function tryAgain (): Promise<void> {
    try {
      await load()
      await prepare()
      onChange(null)
    } catch (err) {
      if (isClosed) return
      downReason = err instanceof Error ? err.message : String(err)
      // A process that ended by itself is already being restarted.
      if (running === null) return
      const { child } = running
      running = null
      child.kill('SIGKILL')
      scheduleRestart()
    }
  }

  async function load (): Promise<Descriptor | null> {
    const { peer } = await boots.add(startProcess)
    return await limitLoading('loading it', importMs, () =>
      peer.call('import', [pathToFileURL(pack.entry).href])) as Descriptor | null
  }

  function numberMemo (memo: ProviderContext['memo']): number {
    const number = memos.get(memo)
    if (number !== undefined) return number
    memos.set(memo, ++lastMemo)
    return lastMemo
  }

  const factsOf = ({ memo, config, preferences, options: given, found, folders }: ProviderContext): CallFacts =>
    ({ memo: numberMemo(memo), config, preferences, options: given, found, folders: Object.keys(folders) })

  interface OpenCall { peer: Peer, args: readonly unknown[], ctx: ProviderContext | undefined }

  function open (method: string, args: readonly unknown[]): OpenCall {
    if (running === null) throw downError()
    const at = METHODS[method]
    const ctx = typeof at === 'number' ? args[at] as ProviderContext | undefined : undefined
    return { peer: running.peer, args: typeof at === 'number' && ctx !== undefined ? args.with(at, factsOf(ctx)) : args, ctx }
  }

  /** Begins a call; the process may use its context until `end`. */
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

  /** Calls a method that answers item by item; its context lasts until the last item was read. */
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
    setupContext = ctx
    if (ctx !== null) await call('setup', [ctx])
  }

  function end (): void {
    isClosed = true
    clearTimeout(restart)
    running?.child.kill('SIGKILL')
  }

  return {
    /** Starts the process, which imports the plugin. @returns null if the package exports no plugin */
    load,
    /** Sets the plugin up, now and after each restart. @param create creates the context for it */
    async setUp (create: () => ProviderContext): Promise<void> {
      openContext = create
      await prepare()
    },
    /** Calls a method of the plugin's definition. @throws ServiceDownError while the process is down */
    call: (method: string) => (...args: unknown[]): unknown => method === 'index.build' ? stream(method, args) : call(method, args),
    /** Closes the plugin and ends its process. */
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
