import { io } from 'socket.io-client'
import { addressOf } from '../base.ts'
import { reportReached } from './connection.ts'
import type { components } from './schema.d.ts'

/** The events of the server with their payloads. */
export type Events = components['schemas']['ServerEvents']
export type EventName = keyof Events

const socket = io({ path: addressOf('ws/socket.io'), autoConnect: false, transports: ['websocket', 'polling'], withCredentials: true })

let hasConnected = false
const reconnectListeners = new Set<() => void>()
const endListeners = new Set<() => void>()

socket.on('connect', () => {
  reportReached(true)
  // Events sent meanwhile are lost, so the pages load their data again.
  if (hasConnected) for (const listener of reconnectListeners) listener()
  hasConnected = true
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

/** Calls a function after each lost connection that came back. @returns a function that stops */
export function onReconnect (listener: () => void): () => void {
  reconnectListeners.add(listener)
  return () => { reconnectListeners.delete(listener) }
}

/** Calls a function when the server closes the socket on purpose. */
export function onSocketEnd (listener: () => void): void {
  endListeners.add(listener)
}
