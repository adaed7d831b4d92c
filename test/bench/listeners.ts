import { once } from 'node:events'
import { type Socket, io } from 'socket.io-client'

/** Delays of events at additional listeners. */
export interface Delays {
  /** Delays of all deliveries after the first client received the same event, in milliseconds. */
  p50: number
  p99: number
  deliveries: number
}

/** Signs in once and returns the cookies, as a browser does. */
async function signIn (url: string, authorization: string): Promise<string> {
  const answer = await fetch(`${url}/api/login`, { method: 'POST', headers: { authorization } })
  if (!answer.ok) throw new Error(`Nobody can sign in: ${answer.status} ${await answer.text()}`)
  return answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0]).join('; ')
}

/** Opens clients that receive all events of a scan in the same order. */
export async function openListeners (url: string, authorization: string, count: number) {
  const cookie = count === 0 ? '' : await signIn(url, authorization)
  const firsts: number[] = []
  const delays: number[] = []
  const sockets: Socket[] = []

  function hear (turn: number): void {
    const now = performance.now()
    firsts[turn] ??= now
    delays.push(now - firsts[turn])
  }

  for (let number = 0; number < count; number++) {
    const socket = io(url, {
      path: '/ws/socket.io', transports: ['websocket'], forceNew: true, reconnection: false, extraHeaders: { cookie }
    })
    let turn = 0
    socket.onAny(() => { hear(turn++) })
    await once(socket as never, 'connect')
    sockets.push(socket)
  }
  return {
    read (): Delays {
      const sorted = delays.toSorted((one, other) => one - other)
      const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
      return { p50: at(0.5), p99: at(0.99), deliveries: sorted.length }
    },
    close (): void {
      for (const socket of sockets) socket.disconnect()
    }
  }
}
