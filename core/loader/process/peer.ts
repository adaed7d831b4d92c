import { createErrorBook } from './errors.ts'
import type { Message } from './messages.ts'

/** A call from the other end. */
export interface Incoming {
  method: string
  args: readonly unknown[]
  /** The call of this end for which it is made; 0 for none. */
  scope: number
  /** The number of the call; calls back use it as their scope. */
  id: number
  /** Whether the other end waits for the answer, which makes it one of the calls at once. */
  isCall: boolean
  signal: AbortSignal
}

export interface PeerOptions {
  send (message: Message): void
  /** Answers a call; the other end reads an async iterable item by item. */
  serve (call: Incoming): unknown
  /** Called if the other end does not answer an aborted call; it may hang. */
  onAbort? (): void
  /** The most calls of the other end that run at once, including the streams that it has open. */
  callsMax?: number
  /** The most bytes of the messages of these calls. */
  callsMaxBytes?: number
}

const NEVER = new AbortController().signal

interface PendingCall { resolve (value: unknown): void, reject (reason: unknown): void }

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

const isStream = (value: unknown): value is { $stream: number } =>
  typeof value === 'object' && value !== null && '$stream' in value && typeof value.$stream === 'number'

const isRecordWith = (value: unknown, isWanted: (inner: unknown) => boolean): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype &&
  Object.values(value).some(isWanted)

const mapValues = (record: Record<string, unknown>, change: (inner: unknown) => unknown) =>
  Object.fromEntries(Object.entries(record).map(([key, inner]) => [key, change(inner)]))

/**
 * Creates one end of a channel between two processes. Both ends can call each other and abort calls; errors keep their
 * classes, and long data is sent on demand.
 */
export function createPeer ({ send, serve, onAbort, callsMax = Infinity, callsMaxBytes = Infinity }: PeerOptions) {
  const errors = createErrorBook()
  const waiting = new Map<number, PendingCall>()
  const served = new Map<number, AbortController>()
  const iterators = new Map<number, { iterator: AsyncIterator<unknown>, onEnd: () => void }>()
  let lastId = 0
  let answering = 0
  let answeringBytes = 0

  function registerStream (iterable: AsyncIterable<unknown>, onEnd: () => void = () => {}): { $stream: number } {
    const id = ++lastId
    iterators.set(id, { iterator: iterable[Symbol.asyncIterator](), onEnd })
    return { $stream: id }
  }

  /** Replaces iterables, alone or as a property, by a reference; they stay in this process. */
  function encode (value: unknown): unknown {
    if (isIterable(value)) return registerStream(value)
    return isRecordWith(value, isIterable) ? mapValues(value, encode) : value
  }

  function decode (value: unknown, signal: AbortSignal | undefined): unknown {
    if (isStream(value)) return read(value.$stream, signal)
    return isRecordWith(value, isStream) ? mapValues(value, (inner) => decode(inner, signal)) : value
  }

  async function * read (stream: number, signal: AbortSignal | undefined): AsyncGenerator<unknown> {
    try {
      for (;;) {
        const { done, value } = await call('$next', [stream], { signal }) as { done: boolean, value: unknown }
        if (done) return
        yield decode(value, signal)
      }
    } finally {
      notify('$end', [stream])
    }
  }

  async function serveStream (method: string, [stream]: readonly unknown[]): Promise<unknown> {
    const id = Number(stream)
    const registered = iterators.get(id)
    if (registered === undefined) return { done: true, value: undefined }
    if (method === '$next') {
      const { done = false, value } = await registered.iterator.next() as IteratorResult<unknown, unknown>
      return { done, value: encode(value) }
    }
    iterators.delete(id)
    registered.onEnd()
    return await registered.iterator.return?.()
  }

  async function run (incoming: Incoming): Promise<unknown> {
    if (incoming.method === '$next' && !incoming.isCall) throw new Error('The next piece of a stream must be requested by a call')
    return incoming.method.startsWith('$') ? await serveStream(incoming.method, incoming.args) : await serve(incoming)
  }

  function refuseCall (bytes: number): string | null {
    if (answering + iterators.size >= callsMax) return `More than ${callsMax} calls at once; wait until some of them end`
    if (answeringBytes + bytes <= callsMaxBytes) return null
    return `More than ${callsMaxBytes} bytes in calls at once; wait until some of them end`
  }

  async function serveCall ({ id, method, args, scope }: Extract<Message, { type: 'call' }>, bytes: number): Promise<void> {
    const refusal = refuseCall(bytes)
    if (refusal !== null) {
      send({ type: 'error', id, error: errors.toFields(new Error(refusal)) })
      return
    }
    const controller = new AbortController()
    served.set(id, controller)
    answering++
    answeringBytes += bytes
    const end = () => { served.delete(id) }
    try {
      const value = await run({ id, method, args, scope, isCall: true, signal: controller.signal })
      // A call that answers with a stream lasts until that was read.
      send({ type: 'result', id, value: isIterable(value) ? registerStream(value, end) : encode(value) })
      if (!isIterable(value)) end()
    } catch (err) {
      end()
      send({ type: 'error', id, error: errors.toFields(err) })
    } finally {
      answering--
      answeringBytes -= bytes
    }
  }

  /** Calls the other end. @throws its error, or the reason of `signal` */
  function call (
    method: string, args: readonly unknown[], { signal, scope = 0, onId }:
    { signal?: AbortSignal | undefined, scope?: number, onId?: (id: number) => void } = {}
  ): Promise<unknown> {
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const abort = () => {
      reject(signal?.reason)
      send({ type: 'abort', id, reason: errors.toFields(signal?.reason) })
      onAbort?.()
    }
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
    onId?.(id)
    waiting.set(id, { resolve: (value) => { resolve(decode(value, signal)) }, reject })
    signal?.addEventListener('abort', abort, { once: true })
    try {
      send({ type: 'call', id, method, args, scope })
    } catch (err) {
      reject(err)
    }
    return promise.finally(() => {
      signal?.removeEventListener('abort', abort)
      waiting.delete(id)
    })
  }

  function notify (method: string, args: readonly unknown[], scope = 0): void {
    send({ type: 'tell', method, args, scope })
  }

  /** @param bytes the length of the message */
  function receive (message: Message, bytes = 0): void {
    switch (message.type) {
      case 'call':
        void serveCall(message, bytes)
        break
      case 'tell':
        // Nobody hears what goes wrong with it.
        run({ ...message, id: 0, isCall: false, signal: NEVER }).catch(() => { /* nobody waits for it */ })
        break
      case 'abort':
        served.get(message.id)?.abort(errors.toError(message.reason))
        break
      case 'result':
        waiting.get(message.id)?.resolve(message.value)
        break
      case 'error':
        waiting.get(message.id)?.reject(errors.toError(message.error))
    }
  }

  return {
    call,
    notify,
    receive,
    /** Fails everything that is open, because the other end is gone. */
    fail (reason: Error): void {
      for (const { reject } of waiting.values()) reject(reason)
      for (const controller of served.values()) controller.abort(reason)
      for (const { iterator } of iterators.values()) {
        iterator.return?.().catch(() => { /* no reader is left */ })
      }
      iterators.clear()
    }
  }
}
export type Peer = ReturnType<typeof createPeer>
