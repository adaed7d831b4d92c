import { Type } from '@sinclair/typebox'
import type { EventDescriptions, ServerEvents } from './sockets.ts'

const JoinedSchema = Type.Object({
  quiet_ms: Type.Number({
    description: 'Milliseconds since the last event to anybody. Data that was loaded before that event may be out of date.'
  })
}, { title: 'SocketJoined' })

declare module './sockets.ts' {
  interface ServerEvents { 'socket:joined': typeof JoinedSchema['static'] }
}

/** The event that each socket gets once, as soon as it receives all events of its account. */
export const joinedEvents: EventDescriptions<ServerEvents> = {
  'socket:joined': { summary: 'From now on this socket receives the events of its account', schema: JoinedSchema }
}

export const joinedOf = (quietMs: number): ServerEvents['socket:joined'] => ({ quiet_ms: Math.floor(quietMs) })
