import { type Socket, io } from 'socket.io-client'
import type { Test } from 'tap'

/** Returns the payload of an EmulatorJS client for a room. */
export const roomData = (
  sessionid: string, userid: string, gameId: number | string, more: Record<string, unknown> = {}
) => ({
  extra: {
    domain: 'games.example', game_id: String(gameId), room_name: 'Evening', player_name: `Name of ${userid}`, userid, sessionid
  },
  maxPlayers: 2,
  password: '',
  ...more
})

/** A client of the netplay endpoint that records its events. */
export interface Peer {
  socket: Socket
  /** Payloads of an event, in the order of their arrival. */
  heard (event: string): unknown[]
  /** Returns the arguments of the acknowledgement, or why the socket is disconnected. */
  ask (event: 'open-room' | 'join-room', data: unknown): Promise<unknown[]>
}

export async function connectPeer (
  t: Pick<Test, 'teardown'>, url: string, cookie: string | null = null, transport = 'websocket'
): Promise<Peer> {
  const socket = io(url, {
    path: '/netplay/socket.io', transports: [transport], forceNew: true, reconnection: false,
    ...(cookie === null ? {} : { extraHeaders: { cookie } })
  })
  t.teardown(() => { socket.disconnect() })
  const events: [string, unknown][] = []
  socket.onAny((event: string, payload: unknown) => { events.push([event, payload]) })
  await new Promise<void>((resolve, reject) => { socket.once('connect', resolve).once('connect_error', reject) })
  return {
    socket,
    heard: (event) => events.filter(([name]) => name === event).map(([, payload]) => payload),
    ask: (event, data) => new Promise((resolve) => {
      if (!socket.connected) return resolve(['Disconnected: before'])
      socket.once('disconnect', (reason) => { resolve([`Disconnected: ${reason}`]) })
      socket.emit(event, data, (...answer: unknown[]) => { resolve(answer) })
    })
  }
}
