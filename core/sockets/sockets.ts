import type { IncomingMessage } from 'node:http'
import type { TSchema } from '@sinclair/typebox'
import type { Server, Socket } from 'socket.io'
import type { Caller } from '../access/auth.ts'
import type { Scope } from '../access/scopes.ts'
import type { SocketOwner } from './end-sockets.ts'

/** Events from server to client with their payload. Each feature adds its own. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface ServerEvents {}

/** The description of an event for the document; the schema determines the payload's type. */
export interface EventDescription<Payload> { summary: string, schema: TSchema & { static: Payload } }

/** Descriptions of some events of a map. */
export type EventDescriptions<Events> = { readonly [Name in keyof Events]?: EventDescription<Events[Name]> }

/** An event in the document. */
export interface ListedEvent {
  namespace: string
  name: string
  from: 'server' | 'client'
  summary: string
  schema: TSchema
  /** Scopes that a client needs to send it. */
  scopes: readonly Scope[]
}

export interface ClientEvent<Payload> {
  summary: string
  scopes: readonly Scope[]
  schema: TSchema
  /** Replies to a sender without the scopes, or with an invalid payload. */
  refuse (socket: Socket, reason: string): void
  handle (payload: Payload, caller: Caller, socket: Socket): Promise<void>
}

/** Authenticates the credential of a socket; returns null for a guest and after the credential has ended. */
export type Identify = (socket: Socket) => Promise<Caller | null>

/** Options of an additional namespace of the main endpoint. */
export interface NamespaceOptions {
  /** The error with which every socket is refused; null to accept those that `identify` knows. */
  refusal: string | null
  /**
   * Returns the caller of a socket; a socket without one is refused as `unauthorized`. Called again as long as the
   * socket is open.
   */
  identify: Identify
  /** Called when a socket was accepted and can be found. */
  connected (socket: Socket, caller: Caller): void
}

export type Publish<Events> = <Name extends keyof Events & string>(
  room: string, event: Name, payload: Events[Name]
) => void

export interface Sockets {
  /** Publishes to every socket if `room` is null; once to each socket that is in one of several rooms. */
  publish<Name extends keyof ServerEvents> (
    room: string | readonly string[] | null, event: Name, payload: ServerEvents[Name]
  ): void
  /** Returns the number of connections to all processes. Rejects if one of them does not answer. */
  countConnections (): Promise<number>
  /**
   * Disconnects the sockets of an ended session, token, device or account, at every endpoint and in every process. The
   * rows that ended must be committed.
   */
  end (owner: SocketOwner): Promise<void>
  /** Adds a user's open sockets to the administrators' room, or removes them. */
  setAdmin (userId: number, isAdmin: boolean): void
  /** Declares an event that clients may send on the main endpoint. */
  on<Payload> (event: string, definition: ClientEvent<Payload>): void
  /** Describes events of the server for the document. */
  describe<Events = ServerEvents>(events: EventDescriptions<Events>, namespace?: string): void
  /** Returns all events, in the order in which features declare them. */
  listEvents (): ListedEvent[]
  /**
   * Opens a namespace beside the one for browsers.
   *
   * @returns a function that publishes its events
   */
  openNamespace<Events> (name: string, options: NamespaceOptions): Publish<Events>
  /**
   * Opens an endpoint beside the main one, with its own events and rooms. It also accepts guests; a socket with a login
   * session is disconnected when the session ends.
   *
   * @param path below that of the base URL
   */
  openEndpoint (path: string, connected: (socket: Socket) => void): Server
  /** Authenticates a socket's login session again; returns null for a guest and after the session has ended. */
  identify (socket: Socket): Promise<Caller | null>
  /** Returns the network of a socket's client, behind trusted proxies. */
  networkOf (socket: Socket): string
  /** The endpoint for browsers and devices. */
  main: Server
  /** Checks a new request for problems of the proxy: its address and its headers. */
  examine (request: IncomingMessage): void
  /** Returns the HTTP side of each endpoint, for requests that another worker forwards. */
  listEndpoints (): readonly Server[]
  /** True if a request may upgrade: see {@link isSocketUpgrade}. */
  isUpgrade (request: IncomingMessage): boolean
}

declare module 'fastify' {
  interface FastifyInstance { sockets: Sockets }
}

export const ownerRoom = ({ kind, id }: SocketOwner) => `${kind}:${id}`
export const userRoom = (userId: number) => `user:${userId}`
export const ADMIN_ROOM = 'admin'
/** The room of every socket with an account. */
export const SIGNED_IN_ROOM = 'signed-in'

/** Returns the rooms by which the sockets of a login session are found when it ends. */
export function ownerRooms ({ id, session_id: session }: Caller): string[] {
  return [userRoom(id), ...(session === null ? [] : [ownerRoom({ kind: 'session', id: session })])]
}

/** Returns the rooms of a socket with a login session on the main endpoint. */
export function sessionRooms (caller: Caller): string[] {
  const rooms = [SIGNED_IN_ROOM, ...ownerRooms(caller)]
  return caller.role === 'admin' ? [...rooms, ADMIN_ROOM] : rooms
}

/** Returns the rooms by which the sockets of a token or device are found when it ends. */
export function tokenRooms ({ id, token_id: token, device_id: device }: Caller): string[] {
  return [
    userRoom(id),
    ...(token === null ? [] : [ownerRoom({ kind: 'token', id: token })]),
    ...(device === null ? [] : [ownerRoom({ kind: 'device', id: device })])
  ]
}
