import { Type } from '@sinclair/typebox'
import type { Socket } from 'socket.io'
import type { EventDescriptions, ServerEvents } from './sockets.ts'

const JoinedSchema = Type.Object({
  quiet_ms: Type.Number({
    description: 'Milliseconds since the last event to anybody. Data that was loaded before that event may be out of date.'
  })
}, { title: 'SocketJoined' })

declare module './sockets.ts' {
  interface ServerEvents { 'socket:joined': typeof JoinedSchema['static'] }
}

/** The event that a socket gets once if it asked for it, as soon as it receives all events of its account. */
export const joinedEvents: EventDescriptions<ServerEvents> = {
  'socket:joined': { summary: 'From now on this socket receives the events of its account; only for clients that connect with `auth: { joined: true }`', schema: JoinedSchema }
}

/** True for a client that asked for the event. Apps that do not know it never get it. */
export const wantsJoined = ({ handshake }: Socket): boolean => handshake.auth.joined === true

export const joinedOf = (quietMs: number): ServerEvents['socket:joined'] => ({ quiet_ms: Math.floor(quietMs) })
