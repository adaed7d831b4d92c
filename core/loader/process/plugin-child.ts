import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { Value } from '@sinclair/typebox/value'
import { NEVER, limitTime } from '../../concurrency/limit-time.ts'
import { DISABLE_DEBUGGER } from '../../process/node-flags.ts'
import { SERVER_DIR } from '../../server-dir.ts'
import { inheritedFlags, inheritedFolder } from '../packages/strip-types.ts'
import { EXPOSE_INTERNALS } from './bindings.ts'
import { CHANNEL_FD, createChannel } from './channel.ts'
import { toPrintable } from './errors.ts'
import { MEMORY_WATCH_MS, OUT_OF_MEMORY } from './memory.ts'
import { MessageSchema } from './messages.ts'
import { type Incoming, type Peer, createPeer } from './peer.ts'
import { startWatchdog } from './watchdog.ts'

const ENTRY = join(SERVER_DIR, 'core', 'loader', 'process', 'entry.ts')
/** The limit of the heap, and of all memory together. */
const HEAP_MIB = 256
const MEMORY_MIB = 512
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
const STRIP_HOOK = ['strip-hook.js', 'ascii-code.js', 'bundles.js'].map((name) => join(SERVER_DIR, 'core', 'loader', 'packages', name))
const OVER_MEMORY = `it used more than ${MEMORY_MIB} MiB of memory`

/** The time zone is the same as in the server; a plugin gets no other variable. */
const environment = () => process.env.TZ === undefined ? {} : { TZ: process.env.TZ }

const toReadFlag = (path: string) => `--allow-fs-read=${path}`

/**
 * Returns the flags by which the process loads the server's code without types. Otherwise it would load a compiler, a
 * third of its memory.
 */
function readFlagsOfStrippedCode (): string[] {
  const folder = inheritedFolder()
  return folder === null ? [] : [...inheritedFlags(), ...[folder, ...STRIP_HOOK].map(toReadFlag)]
}

export interface PluginChildOptions {
  folder: string
  /** The paths that the process may read. */
  readable: readonly string[]
  /** The longest time without a reply to a ping. */
  pingMs: number
  /** The interval of the pings while no call is open, and the longest time without a reply to one of them. */
  idlePingMs: number
  /** Answers a call of the plugin. */
  serve (call: Incoming): unknown
  /** Called with the reason when the process has ended. */
  onEnd (reason: string): void
}

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

/** One run of a plugin process, from its start to its end. It is killed when it hangs or uses too much memory. */
export class PluginChild {
  readonly startedAt = performance.now()
  readonly peer: Peer
  /** Resolves when the process accepts calls; rejects with the reason if it ends before. */
  readonly ready: Promise<undefined>
  readonly #process: ChildProcess
  readonly #pingMs: number
  /** The reason for which this host killed the process. */
  #killReason: string | null = null
  /** The reason that the process gave before its end. */
  #fatalMessage: string | null = null
  #isPinging = false

  constructor ({ folder, readable, pingMs, idlePingMs, serve, onEnd }: PluginChildOptions) {
    const ready = Promise.withResolvers<undefined>()
    this.ready = ready.promise
    this.#pingMs = pingMs
    const flags = [...FLAGS, ...readFlagsOfStrippedCode(), ...readable.map(toReadFlag)]
    const child = spawn(process.execPath, [...flags, ENTRY, String(MEMORY_MIB)], {
      env: environment(), cwd: realpathSync(folder), stdio: ['ignore', 'ignore', 'ignore', 'overlapped'], windowsHide: true
    })
    this.#process = child
    startWatchdog(child)
    this.peer = this.#connect(child.stdio[CHANNEL_FD] as Duplex, (call) => {
      if (call.method === 'ready') {
        ready.resolve(undefined)
        idleWatch ??= setInterval(() => { this.#watchIdle(idlePingMs) }, idlePingMs).unref()
      } else if (call.method === 'fatal') this.#fatalMessage = toPrintable(String(call.args[0]), FATAL_MESSAGE_MAX)
      else return serve(call)
    })
    // A process that cannot be started emits no exit.
    child.on('error', (err) => {
      child.kill('SIGKILL')
      ready.reject(err)
    })
    const watch = setInterval(() => { this.#watchMemory() }, MEMORY_WATCH_MS).unref()
    let idleWatch: NodeJS.Timeout | undefined
    // Uses 'close', because at 'exit' its last messages may not have been read yet.
    child.once('close', (code, signal) => {
      clearInterval(watch)
      clearInterval(idleWatch)
      const reason = this.#killReason ?? this.#fatalMessage ?? explainExit(code, signal)
      ready.reject(new Error(reason))
      onEnd(reason)
    })
  }

  get pid (): number | undefined { return this.#process.pid }

  kill (): void { this.#process.kill('SIGKILL') }

  #connect (stream: Duplex, serve: (call: Incoming) => unknown): Peer {
    const channel = createChannel(stream, {
      onMessage (message, bytes) {
        Value.Assert(MessageSchema, message)
        peer.receive(message, bytes)
      },
      onFault: ({ message }) => { this.#killBecause(message) },
      maxBytes: MESSAGE_MAX_BYTES,
      backlogBytes: BACKLOG_MAX_BYTES
    })
    const peer = createPeer({
      send: (message) => { channel.send(message) },
      serve,
      onAbort: () => { void this.#ping(this.#pingMs) },
      callsMax: CALLS_MAX,
      callsMaxBytes: CALLS_MAX_BYTES
    })
    return peer
  }

  #killBecause (reason: string): void {
    this.#killReason ??= reason
    this.kill()
  }

  #watchMemory (): void {
    if (this.pid !== undefined && (readMemory(this.pid) ?? 0) > MEMORY_MIB * 1024 ** 2) this.#killBecause(OVER_MEMORY)
  }

  /** Finds a loop that a timer or promise of the plugin began between calls, because no call's time limit ends it. */
  #watchIdle (ms: number): void {
    if (this.peer.isIdle()) void this.#ping(ms)
  }

  /** Kills the process if it does not answer a ping. */
  async #ping (ms: number): Promise<void> {
    if (this.#isPinging) return
    this.#isPinging = true
    try {
      await limitTime('It is silent for', ms, NEVER, () => this.peer.call('ping', []))
    } catch {
      this.#killBecause(`it did not answer for ${ms / 1_000} s`)
    } finally {
      this.#isPinging = false
    }
  }
}
