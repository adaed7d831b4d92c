import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger, ProviderContext } from '@svc/plugin-sdk'
import type { CallFacts } from './context.ts'
import { callContext, isNotification, isOfOneCall } from './context-calls.ts'
import { METHODS } from '../descriptor.ts'
import { createMessageLimits } from './message-limits.ts'
import type { Incoming, Peer } from './peer.ts'
import { createRequestLimits } from './request-limits.ts'

/** The timeout of methods that only check their arguments. */
const QUICK_MS = 5_000

/** The context of a call, and a function that runs code in the async context of its caller. */
interface Scope { ctx: ProviderContext, run: ReturnType<typeof AsyncLocalStorage.snapshot> }

/** A call of a method of the plugin. */
export interface MethodCall { method: string, args: readonly unknown[] }

/** The calls to one plugin that run now. While a call runs, the plugin may use its context. */
export class PluginCalls {
  /** The context of the last set-up; its permanent parts work at any time. */
  setupContext: ProviderContext | null = null
  /** Scopes by the number of their call. */
  readonly #scopes = new Map<number, Scope>()
  readonly #memos = new WeakMap<ProviderContext['memo'], number>()
  readonly #limitRequests = createRequestLimits()
  readonly #allows: (method: string) => boolean
  #lastMemo = 0

  constructor (plugin: string, log: Pick<Logger, 'warn'>) {
    this.#allows = createMessageLimits((dropped, method) => {
      log.warn({ plugin, method, dropped }, 'plugin sent too many log lines or reports; some were dropped')
    })
  }

  /** Answers a call of the plugin on one of its contexts. */
  serve ({ method, args, scope, isCall }: Incoming): unknown {
    if (!isCall && !isNotification(method)) throw new Error(`'${method}' returns a value; call it and wait for the value`)
    if (!this.#allows(method)) return undefined
    const call = this.#scopes.get(scope)
    if (call !== undefined) return call.run(() => callContext(call.ctx, method, args, this.#limitRequests))
    if (this.setupContext === null || isOfOneCall(method)) throw new Error('This context belongs to one call, which has ended')
    return callContext(this.setupContext, method, args, this.#limitRequests)
  }

  async call (peer: Peer, call: MethodCall): Promise<unknown> {
    const { answer, end } = this.#begin(peer, call)
    try {
      return await answer
    } finally {
      end()
    }
  }

  /** Calls a method that answers item by item; its context lasts until the last item was read. */
  async * stream (peer: Peer, call: MethodCall): AsyncGenerator<unknown> {
    const { answer, end } = this.#begin(peer, call)
    try {
      yield * await answer as AsyncIterable<unknown>
    } finally {
      end()
    }
  }

  /** Begins a call; the process may use its context until `end`. */
  #begin (peer: Peer, { method, args }: MethodCall): { answer: Promise<unknown>, end: () => void } {
    const at = METHODS[method]
    const ctx = typeof at === 'number' ? args[at] as ProviderContext | undefined : undefined
    const sent = typeof at === 'number' && ctx !== undefined ? args.with(at, this.#factsOf(ctx)) : args
    let scope = 0
    const onId = (id: number) => {
      scope = id
      if (ctx !== undefined) this.#scopes.set(id, { ctx, run: AsyncLocalStorage.snapshot() })
    }
    const answer = peer.call(method, sent, { signal: ctx?.signal ?? AbortSignal.timeout(QUICK_MS), onId })
    return { answer, end: () => { this.#scopes.delete(scope) } }
  }

  #factsOf ({ memo, config, preferences, options, found, folders }: ProviderContext): CallFacts {
    return { memo: this.#numberMemo(memo), config, preferences, options, found, folders: Object.keys(folders) }
  }

  #numberMemo (memo: ProviderContext['memo']): number {
    const number = this.#memos.get(memo)
    if (number !== undefined) return number
    this.#memos.set(memo, ++this.#lastMemo)
    return this.#lastMemo
  }
}
