import { io } from 'socket.io-client'
import { addressOf } from '../base.ts'
import { reportReached } from './connection.ts'
import type { components } from './schema.d.ts'

/** The events of the server with their payloads. */
export type Events = components['schemas']['ServerEvents']
export type EventName = keyof Events

const socket = io({
  path: addressOf('ws/socket.io'),
  autoConnect: false,
  transports: ['websocket', 'polling'],
  withCredentials: true,
  // The server says when the socket is in its rooms.
  auth: { joined: true }
})

let hasConnected = false
let hasJoined = false
const joinListeners = new Set<(lostUntil: number) => void>()
const endListeners = new Set<() => void>()

socket.on('connect', () => {
  reportReached(true)
  hasConnected = true
})
// Events sent before are lost. After a lost connection, the next worker may not know the time of the last one.
onEvent('socket:joined', ({ quiet_ms: quietMs }) => {
  const now = performance.now()
  for (const listener of joinListeners) listener(hasJoined ? now : now - quietMs)
  hasJoined = true
})
socket.on('connect_error', () => { if (hasConnected) reportReached(false) })
socket.on('disconnect', (reason) => {
  if (reason === 'io client disconnect') return
  // The server ended the session, or restarts. Only a request tells which.
  if (reason === 'io server disconnect') for (const listener of endListeners) listener()
  else reportReached(false)
})

/** Opens the socket for the account that signed in. */
export function openSocket (): void {
  socket.disconnect()
  hasConnected = false
  hasJoined = false
  socket.connect()
}

export function closeSocket (): void {
  socket.disconnect()
}

/** Listens to an event of the server. @returns a function that stops */
export function onEvent<Name extends EventName> (name: Name, listener: (payload: Events[Name]) => void): () => void {
  socket.on(name as string, listener)
  return () => { socket.off(name as string, listener) }
}

/** Sends an event to the server, such as the start of a scan. */
export function sendEvent<Name extends EventName> (name: Name, payload: Events[Name]): void {
  socket.emit(name, payload)
}

/**
 * Calls a function each time the socket begins to receive events, with the time up to which events may be lost. Data
 * that was requested before that time, on the clock of `performance.now()`, may be out of date.
 */
export function onJoin (listener: (lostUntil: number) => void): void {
  joinListeners.add(listener)
}

/** Calls a function when the server closes the socket on purpose. */
export function onSocketEnd (listener: () => void): void {
  endListeners.add(listener)
}
