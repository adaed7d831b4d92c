import { createErrorBook } from './errors.ts'
import type { Message } from './messages.ts'
import { type StreamReference, createOfferedStreams } from './offered-streams.ts'
import { createOutgoingCalls } from './outgoing-calls.ts'

/** A call from the other end. */
export interface Incoming {
  method: string
  args: readonly unknown[]
  /** The call of this end for which it is made; 0 for none. */
  scope: number
  /** The number of the call; calls back use it as their scope. */
  id: number
  /** True if the other end waits for the answer, which makes it one of the calls at once. */
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

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

const isStream = (value: unknown): value is StreamReference =>
  typeof value === 'object' && value !== null && '$stream' in value && typeof value.$stream === 'number'

const isRecordWith = (value: unknown, isWanted: (inner: unknown) => boolean): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype &&
  Object.values(value).some(isWanted)

const mapValues = (record: Record<string, unknown>, change: (inner: unknown) => unknown) =>
  Object.fromEntries(Object.entries(record).map(([key, inner]) => [key, change(inner)]))

/** Counts the calls of the other end that run at once, and their bytes. */
function createCallCount ({ callsMax = Infinity, callsMaxBytes = Infinity }: Pick<PeerOptions, 'callsMax' | 'callsMaxBytes'>) {
  let calls = 0
  let bytes = 0
  return {
    /** Returns the reason why one more call is refused; null if it may run. */
    refuse (moreBytes: number, openStreams: number): string | null {
      if (calls + openStreams >= callsMax) return `More than ${callsMax} calls at once; wait until some of them end`
      if (bytes + moreBytes <= callsMaxBytes) return null
      return `More than ${callsMaxBytes} bytes in calls at once; wait until some of them end`
    },
    begin (callBytes: number): void {
      calls++
      bytes += callBytes
    },
    end (callBytes: number): void {
      calls--
      bytes -= callBytes
    }
  }
}

/**
 * Creates one end of a channel between two processes. Both ends can call each other and abort calls; errors keep their
 * classes, and long data is sent on demand.
 */
export function createPeer ({ send, serve, onAbort, ...limits }: PeerOptions) {
  const errors = createErrorBook()
  const streams = createOfferedStreams()
  const outgoing = createOutgoingCalls({ send, errors, onAbort, decode })
  const served = new Map<number, AbortController>()
  const count = createCallCount(limits)

  /** Replaces iterables, alone or as a property, by a reference; they stay in this process. */
  function encode (value: unknown): unknown {
    if (isIterable(value)) return streams.add(value)
    return isRecordWith(value, isIterable) ? mapValues(value, encode) : value
  }

  function decode (value: unknown, signal: AbortSignal | undefined): unknown {
    if (isStream(value)) return read(value.$stream, signal)
    return isRecordWith(value, isStream) ? mapValues(value, (inner) => decode(inner, signal)) : value
  }

  async function * read (stream: number, signal: AbortSignal | undefined): AsyncGenerator<unknown> {
    try {
      for (;;) {
        const { done, value } = await outgoing.call('$next', [stream], { signal }) as { done: boolean, value: unknown }
        if (done) return
        yield decode(value, signal)
      }
    } finally {
      notify('$end', [stream])
    }
  }

  async function run (incoming: Incoming): Promise<unknown> {
    const { method, args, isCall } = incoming
    if (!method.startsWith('$')) return await serve(incoming)
    const stream = Number(args[0])
    if (method !== '$next') return await streams.end(stream)
    if (!isCall) throw new Error('The next piece of a stream must be requested by a call')
    const { done = false, value } = await streams.next(stream)
    return { done, value: encode(value) }
  }

  async function serveCall ({ id, method, args, scope }: Extract<Message, { type: 'call' }>, bytes: number): Promise<void> {
    const refusal = count.refuse(bytes, streams.count())
    if (refusal !== null) {
      send({ type: 'error', id, error: errors.toFields(new Error(refusal)) })
      return
    }
    const controller = new AbortController()
    served.set(id, controller)
    count.begin(bytes)
    const end = () => { served.delete(id) }
    try {
      const value = await run({ id, method, args, scope, isCall: true, signal: controller.signal })
      // A call that answers with a stream lasts until that was read.
      send({ type: 'result', id, value: isIterable(value) ? streams.add(value, end) : encode(value) })
      if (!isIterable(value)) end()
    } catch (err) {
      end()
      send({ type: 'error', id, error: errors.toFields(err) })
    } finally {
      count.end(bytes)
    }
  }

  function notify (method: string, args: readonly unknown[], scope = 0): void {
    send({ type: 'tell', method, args, scope })
  }

  return {
    call: outgoing.call,
    notify,
    /** True if the other end owes no answer. */
    isIdle: () => outgoing.countOpen() === 0,
    /** @param bytes the length of the message */
    receive (message: Message, bytes = 0): void {
      if (message.type === 'call') void serveCall(message, bytes)
      else if (message.type === 'abort') served.get(message.id)?.abort(errors.toError(message.reason))
      else if (message.type === 'result') outgoing.resolve(message.id, message.value)
      else if (message.type === 'error') outgoing.reject(message.id, message.error)
      // Errors are ignored, because the other end does not wait.
      else run({ ...message, id: 0, isCall: false, signal: NEVER }).catch(() => {})
    },
    /** Fails everything that is open, because the other end is gone. */
    fail (reason: Error): void {
      outgoing.rejectAll(reason)
      for (const controller of served.values()) controller.abort(reason)
      streams.endAll()
    }
  }
}
export type Peer = ReturnType<typeof createPeer>
