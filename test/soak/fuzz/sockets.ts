import fc, { type Arbitrary } from 'fast-check'
import { type Socket, io } from 'socket.io-client'
import { type Known, junk, resolve, valid } from './values.ts'

export interface Message { namespace: '/' | '/devices', who: number, event: string, payload: unknown }

const PAYLOAD = {
  type: 'object',
  properties: {
    rom_id: { type: 'integer' }, device_id: { type: 'string' }, user_id: { type: 'integer' }, session_id: { type: 'string' },
    platforms: { type: 'array', items: { type: 'integer' } }, type: { enum: ['quick', 'complete', 'hashes', 'unknown'] },
    roms_ids: { type: 'array', items: { type: 'integer' } }, apis: { type: 'array', items: { enum: ['gamelist'] } }
  }
}

/** Generates client events, events that only the server sends, and unknown ones. */
export function messages (names: readonly string[]): Arbitrary<Message> {
  return fc.record({
    namespace: fc.constantFrom('/', '/', '/devices'),
    who: fc.nat(99),
    event: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...names) },
      { weight: 1, arbitrary: fc.constantFrom('scan:update_stats', 'notifications:new', 'install:request', '__proto__', 'message', '') },
      { weight: 1, arbitrary: fc.string({ maxLength: 20 }) }),
    payload: fc.oneof({ weight: 4, arbitrary: valid(PAYLOAD) }, { weight: 2, arbitrary: junk })
  })
}

/** Event names that the client reserves for itself. */
const RESERVED = new Set(['connect', 'connect_error', 'disconnect', 'disconnecting', 'newListener', 'removeListener'])

/** Open sockets, and everything they receive. */
export class Sockets {
  #base: string
  #hear: (who: string, text: string) => void
  #open = new Map<string, Socket>()

  constructor (base: string, hear: (who: string, text: string) => void) {
    this.#base = base
    this.#hear = hear
  }

  /** Sends an event. @returns true if it was sent, which needs a valid credential */
  async send (
    name: string, headers: Record<string, string>, message: Message, look: (known: Known) => unknown
  ): Promise<boolean> {
    const { namespace, event, payload } = message
    const key = `${name} ${namespace}`
    const socket = this.#open.get(key) ?? this.#connect(key, namespace, headers)
    const isConnected = socket.connected || await this.#wait(socket)
    if (isConnected && !RESERVED.has(event)) socket.emit(event, resolve(payload, look))
    return isConnected
  }

  #connect (key: string, namespace: string, headers: Record<string, string>): Socket {
    const socket = io(`${this.#base}${namespace}`, {
      path: '/ws/socket.io', transports: ['websocket'], forceNew: true, reconnection: false, extraHeaders: headers,
      auth: { token: headers.authorization?.replace('Bearer ', '') }
    })
    socket.onAny((event: string, ...given: unknown[]) => { this.#hear(key, `${event} ${JSON.stringify(given)}`) })
    this.#open.set(key, socket)
    return socket
  }

  async #wait (socket: Socket): Promise<boolean> {
    return await new Promise((resolve) => {
      socket.once('connect', () => { resolve(true) })
      socket.once('connect_error', () => { resolve(false) })
      socket.connect()
    })
  }

  forget (name: string): void {
    for (const [key, socket] of this.#open) {
      if (!key.startsWith(`${name} `)) continue
      socket.disconnect()
      this.#open.delete(key)
    }
  }

  close (): void {
    for (const socket of this.#open.values()) socket.disconnect()
  }
}
