import { pathToFileURL } from 'node:url'
import { type Logger, type ProviderContext, ServiceDownError } from '@svc/plugin-sdk'
import PQueue from 'p-queue'
import { restartDelay } from '../../process/restart-delay.ts'
import { LoadError, limitLoading } from '../load-error.ts'
import type { PluginPackage } from '../packages/packages.ts'
import type { Descriptor } from '../descriptor.ts'
import { BOOTS_AT_ONCE, BOOT_MS } from './boot-limits.ts'
import { listReadable } from './folders.ts'
import { NODE_LEVEL, canConfine } from './node-level.ts'
import { type MethodCall, PluginCalls } from './plugin-calls.ts'
import { PluginChild } from './plugin-child.ts'

const PING_MS = 5_000
/** Longer than the limit after a failed call, because an idle process may be swapped out. */
const IDLE_PING_MS = 15_000
/** A process that lived this long is restarted without backoff, and works again after any number of deaths. */
const STEADY_MS = 60_000

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
  /** The same while no call is open, and the interval of these pings. */
  idlePingMs?: number | undefined
  /** Returns how long the process stays down after so many deaths. */
  restartMs?: ((crashes: number) => number) | undefined
}

function checkNode (): void {
  if (canConfine()) return
  throw new LoadError('unsupported', `Node ${process.version} cannot isolate the process of a plugin; ` +
    `start the server with Node ${NODE_LEVEL}, such as the newest 24 from https://nodejs.org`)
}

/** The process of one plugin. It is restarted when it ends. */
export class PluginProcess {
  readonly #options: PluginProcessOptions
  readonly #calls: PluginCalls
  #child: PluginChild | null = null
  /** Creates a context for the set-up; null until the set-up was requested. */
  #openContext: (() => ProviderContext) | null = null
  #downReason = 'it was not started'
  #isClosed = false
  #crashes = 0
  /** The deaths in a row between two calls, which the plugin's timers or promises caused. */
  #idleCrashes = 0
  #restart: NodeJS.Timeout | undefined
  #recovery: NodeJS.Timeout | undefined

  constructor (options: PluginProcessOptions) {
    this.#options = options
    this.#calls = new PluginCalls(options.pack.name, options.log)
  }

  get pid (): number | undefined { return this.#child?.pid }

  /** Starts the process, which imports the plugin. @returns null if the package exports no plugin */
  async load (): Promise<Descriptor | null> {
    const { peer } = await boots.add(() => this.#startProcess())
    const { importMs, pack } = this.#options
    return await limitLoading('loading it', importMs, () =>
      peer.call('import', [pathToFileURL(pack.entry).href])) as Descriptor | null
  }

  /** Sets the plugin up, now and after each restart. @param create creates the context for it */
  async setUp (create: () => ProviderContext): Promise<void> {
    this.#openContext = create
    await this.#prepare()
  }

  /** Calls a method of the plugin's definition. @throws ServiceDownError while the process is down */
  call (method: string): (...args: unknown[]) => unknown {
    return (...args) => method === 'index.build' ? this.#stream({ method, args }) : this.#call({ method, args })
  }

  /** Closes the plugin and ends its process. */
  async close (): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restart)
    clearTimeout(this.#recovery)
    if (this.#child !== null && this.#openContext !== null) {
      await this.#call({ method: 'close', args: [] }).finally(() => { this.end() })
    }
    this.end()
  }

  end (): void {
    this.#isClosed = true
    clearTimeout(this.#restart)
    clearTimeout(this.#recovery)
    this.#child?.kill()
  }

  async #call (call: MethodCall): Promise<unknown> {
    return await this.#calls.call(this.#requireChild().peer, call)
  }

  async * #stream (call: MethodCall): AsyncGenerator<unknown> {
    yield * this.#calls.stream(this.#requireChild().peer, call)
  }

  #requireChild (): PluginChild {
    if (this.#child === null) throw this.#downError()
    return this.#child
  }

  #downError (): ServiceDownError {
    return new ServiceDownError(`The process of the plugin ${this.#options.pack.name} is down: ${this.#downReason}`)
  }

  async #startProcess (): Promise<PluginChild> {
    checkNode()
    const { pack, pingMs = PING_MS, idlePingMs = IDLE_PING_MS } = this.#options
    const readable = await listReadable(pack)
    if (this.#isClosed) throw this.#downError()
    const child = new PluginChild({
      folder: pack.folder,
      readable,
      pingMs,
      idlePingMs,
      serve: (call) => this.#calls.serve(call),
      onEnd: (reason) => { this.#handleExit(child, reason) }
    })
    this.#child = child
    await limitLoading('the start of its process', BOOT_MS, () => child.ready)
    return child
  }

  #handleExit (ended: PluginChild, reason: string): void {
    if (this.#child === ended) this.#downReason = reason
    const isIdle = ended.peer.isIdle()
    ended.peer.fail(this.#downError())
    if (this.#child !== ended) return
    this.#child = null
    if (performance.now() - ended.startedAt > STEADY_MS) this.#crashes = this.#idleCrashes = 0
    this.#idleCrashes = isIdle ? this.#idleCrashes + 1 : 0
    this.#scheduleRestart()
  }

  #scheduleRestart (): void {
    if (this.#isClosed || this.#openContext === null) return
    const { pack, log, onChange, restartMs = restartDelay } = this.#options
    const delayMs = restartMs(this.#crashes++)
    log.warn({ plugin: pack.name, reason: this.#downReason, restartMs: delayMs }, 'plugin process ended and is restarted')
    const times = this.#idleCrashes > 1 ? `, ${this.#idleCrashes} times in a row soon after its start` : ''
    clearTimeout(this.#recovery)
    onChange?.(`${this.#downReason}${times}; it is restarted`)
    this.#restart = setTimeout(() => { void this.#tryAgain() }, delayMs).unref()
  }

  async #tryAgain (): Promise<void> {
    try {
      await this.load()
      await this.#prepare()
      this.#reportRecovery()
    } catch (err) {
      if (this.#isClosed) return
      this.#downReason = err instanceof Error ? err.message : String(err)
      // A process that ended by itself is already being restarted.
      if (this.#child === null) return
      const child = this.#child
      this.#child = null
      child.kill()
      this.#scheduleRestart()
    }
  }

  /** Reports that the process works again: at once, or once it lives longer than the former ones did. */
  #reportRecovery (): void {
    const report = () => { if (this.#child !== null) this.#options.onChange?.(null) }
    if (this.#idleCrashes > 1) this.#recovery = setTimeout(report, STEADY_MS).unref()
    else report()
  }

  async #prepare (): Promise<void> {
    const ctx = this.#openContext?.() ?? null
    this.#calls.setupContext = ctx
    if (ctx !== null) await this.#call({ method: 'setup', args: [ctx] })
  }
}
