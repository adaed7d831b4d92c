import type { ChildProcess } from 'node:child_process'

interface Handle { close (): void }
/** A message between node:cluster and a worker. */
interface ClusterMessage { cmd: 'NODE_CLUSTER', act?: string, seq?: number, ack?: number, key?: string, accepted?: boolean }
/**
 * The workers that accept connections of one address. When the last one has left, connections are no longer passed on;
 * later workers form a new set.
 */
type Listeners = Set<ChildProcess>

/** The wait for the last replies of a worker, because node:cluster passes a refused connection to another worker. */
const LAST_REPLIES_MS = 100

const listenersByKey = new Map<string, Listeners>()

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isHandle = (value: unknown): value is Handle => isObject(value) && 'close' in value
const isClusterMessage = (value: unknown): value is ClusterMessage =>
  isObject(value) && 'cmd' in value && value.cmd === 'NODE_CLUSTER'

function findListeners (key: string): Listeners {
  const listeners = listenersByKey.get(key) ?? new Set()
  listenersByKey.set(key, listeners)
  return listeners
}

function removeListener (key: string, child: ChildProcess): void {
  const listeners = findListeners(key)
  listeners.delete(child)
  if (listeners.size === 0) listenersByKey.delete(key)
}

/**
 * Emits a missing 'disconnect'. A worker's channel that ends while it carries a connection never emits it. node:cluster
 * listens to no other event after the exit and would wait for that worker for ever.
 */
function emitDisconnect (child: ChildProcess): void {
  let isEmitted = false
  child.once('disconnect', () => { isEmitted = true })
  child.once('close', () => { if (!isEmitted) child.emit('disconnect') })
}

/**
 * Tracks the connections that node:cluster sends to a web worker, and closes those that the worker never accepts. The
 * worker may die, or close while no other worker exists. node:cluster keeps a copy of each connection until a worker
 * accepts it, so the client would wait for ever.
 */
export function trackUnacceptedConnections (child: ChildProcess): void {
  const open = new Map<number, { handle: Handle, listeners: Listeners }>()

  function trackSent ({ act, seq, ack, key }: ClusterMessage, handle: unknown): void {
    if (key === undefined) return
    // The reply to a worker that wants to listen.
    if (ack !== undefined) findListeners(key).add(child)
    if (act === 'newconn' && seq !== undefined && isHandle(handle)) open.set(seq, { handle, listeners: findListeners(key) })
  }

  function trackReply ({ act, ack, key, accepted }: ClusterMessage): void {
    if (act === 'close' && key !== undefined) removeListener(key, child)
    const sent = ack === undefined ? undefined : open.get(ack)
    if (ack === undefined || sent === undefined) return
    open.delete(ack)
    // Otherwise node:cluster passes it to one of the others.
    if (accepted !== true && sent.listeners.size === 0) sent.handle.close()
  }

  const send = child.send.bind(child) as (...args: unknown[]) => boolean
  Reflect.set(child, 'send', (...args: unknown[]) => {
    const [message, handle] = args
    if (isClusterMessage(message)) trackSent(message, handle)
    return send(...args)
  })
  child.on('internalMessage', (message: unknown) => { if (isClusterMessage(message)) trackReply(message) })
  emitDisconnect(child)
  child.once('disconnect', () => { for (const key of [...listenersByKey.keys()]) removeListener(key, child) })
  child.once('close', () => {
    setTimeout(() => { for (const { handle } of open.values()) handle.close() }, LAST_REPLIES_MS).unref()
  })
}
