import type { Namespace, Socket } from 'socket.io'
import type { Caller } from '../access/auth.ts'
import type { BoundSockets } from './bound-sockets.ts'
import { type NamespaceOptions, tokenRooms } from './sockets.ts'
import { limitSockets } from './traffic.ts'

/** Makes a namespace accept only sockets whose caller it knows, and binds them to the caller's token or device. */
export function guardNamespace (namespace: Namespace, options: NamespaceOptions, bound: BoundSockets): void {
  const { refusal, identify, connected } = options
  const admitted = new WeakMap<Socket, Caller>()

  /** Returns the error with which a socket is refused; null if it is accepted. */
  async function checkSocket (socket: Socket): Promise<string | null> {
    const caller = refusal === null ? await identify(socket) : null
    if (caller === null) return refusal ?? 'unauthorized'
    admitted.set(socket, caller)
    return null
  }
  namespace.use((socket, next) => {
    checkSocket(socket).catch((err: unknown) => {
      bound.disconnectFailed(socket, err)
      return 'unavailable'
    }).then((reason) => { next(reason === null ? undefined : new Error(reason)) }, bound.logFailure)
  })
  namespace.on('connection', (socket) => {
    const caller = admitted.get(socket)
    if (caller === undefined) return
    bound.bind(socket, tokenRooms(caller), identify).catch((err: unknown) => { bound.disconnectFailed(socket, err) })
    connected(socket, caller)
  })
  limitSockets(namespace)
}
