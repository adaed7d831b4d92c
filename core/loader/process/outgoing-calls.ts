import type { ErrorBook, ErrorFields } from './errors.ts'
import type { Message } from './messages.ts'

interface PendingCall { resolve (value: unknown): void, reject (reason: unknown): void }

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** The call of the other end for which this one is made; 0 for none. */
  scope?: number
  /** Called with the number of the call before it is sent. */
  onId?: (id: number) => void
}

export interface OutgoingOptions {
  send (message: Message): void
  errors: ErrorBook
  /** Called if the other end does not answer an aborted call; it may hang. */
  onAbort: (() => void) | undefined
  /** Reads the result of a call. */
  decode (value: unknown, signal: AbortSignal | undefined): unknown
}

/** Creates the list of calls that the other end has not answered yet. */
export function createOutgoingCalls ({ send, errors, onAbort, decode }: OutgoingOptions) {
  const waiting = new Map<number, PendingCall>()
  let lastId = 0

  return {
    /** Calls the other end. @throws its error, or the reason of `signal` */
    call (method: string, args: readonly unknown[], { signal, scope = 0, onId }: CallOptions = {}): Promise<unknown> {
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
    },
    /** Returns the number of calls without an answer. */
    countOpen: () => waiting.size,
    resolve (id: number, value: unknown): void {
      waiting.get(id)?.resolve(value)
    },
    reject (id: number, error: ErrorFields): void {
      waiting.get(id)?.reject(errors.toError(error))
    },
    /** Fails all calls, because the other end is gone. */
    rejectAll (reason: Error): void {
      for (const { reject } of waiting.values()) reject(reason)
    }
  }
}
