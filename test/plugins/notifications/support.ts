import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { io } from 'socket.io-client'
import type { Test } from 'tap'
import { userRoom } from '../../../core/sockets/sockets.ts'
import type { App } from '../../../core/typebox.ts'
import { awaitEarlierEvents } from '../../core/sockets-support.ts'
import { signIn } from '../auth/support.ts'
import { until } from '../../until.ts'

/** Collects the notification events of a user's open page, as `[event, payload]`. */
export async function listen (t: Pick<Test, 'teardown'>, app: App, { id, username }: { id: number, username: string }) {
  const { cookie } = await signIn(app, username)
  const socket = io(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, {
    path: '/ws/socket.io', transports: ['websocket'], forceNew: true, extraHeaders: { cookie }
  })
  t.teardown(() => { socket.disconnect() })
  await once(socket as never, 'connect')
  const isBound = () => app.sockets.main.sockets.adapter.rooms.get(userRoom(id))?.has(socket.id ?? '') === true
  await until(isBound, 'the socket is bound')
  await awaitEarlierEvents(socket, app)
  const heard: [event: string, payload: unknown][] = []
  socket.onAny((event: string, payload: unknown) => { if (event.startsWith('notifications:')) heard.push([event, payload]) })
  return heard
}
