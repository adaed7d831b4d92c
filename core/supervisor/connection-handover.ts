import type { ChildProcess } from 'node:child_process'

interface Handle { close (): void }
/** A message between node:cluster and a worker. */
interface ClusterMessage { cmd: 'NODE_CLUSTER', act?: string, seq?: number, ack?: number, key?: string, accepted?: boolean }
/**
 * The workers that accept connections of one address. When the last one has left, connections are no longer passed on;
 * later workers form a new set.
 */
type Takers = Set<ChildProcess>

/** The wait for the last replies of a worker, because a connection that it returned goes to another one. */
const LAST_WORDS_MS = 100

const takersByKey = new Map<string, Takers>()

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isHandle = (value: unknown): value is Handle => isObject(value) && 'close' in value
const isClusterMessage = (value: unknown): value is ClusterMessage =>
  isObject(value) && 'cmd' in value && value.cmd === 'NODE_CLUSTER'

function findTakers (key: string): Takers {
  const takers = takersByKey.get(key) ?? new Set()
  takersByKey.set(key, takers)
  return takers
}

function leave (key: string, child: ChildProcess): void {
  const takers = findTakers(key)
  takers.delete(child)
  if (takers.size === 0) takersByKey.delete(key)
}

/**
 * Emits a missing 'disconnect'. A worker's channel that ends while it carries a connection never emits it. node:cluster
 * listens to no other event after the exit and would wait for that worker for ever.
 */
function tellOfEnd (child: ChildProcess): void {
  let isTold = false
  child.once('disconnect', () => { isTold = true })
  child.once('close', () => { if (!isTold) child.emit('disconnect') })
}

/**
 * Closes the connections that were sent to a web worker and that it never accepted. The worker may have died, or closed
 * while no other worker existed. node:cluster keeps a copy of each until a worker accepts it, so the client would wait
 * for ever.
 */
export function closeUntaken (child: ChildProcess): void {
  const open = new Map<number, { handle: Handle, takers: Takers }>()

  function noteSent ({ act, seq, ack, key }: ClusterMessage, handle: unknown): void {
    if (key === undefined) return
    // The reply to a worker that wants to listen.
    if (ack !== undefined) findTakers(key).add(child)
    if (act === 'newconn' && seq !== undefined && isHandle(handle)) open.set(seq, { handle, takers: findTakers(key) })
  }

  function noteReceived ({ act, ack, key, accepted }: ClusterMessage): void {
    if (act === 'close' && key !== undefined) leave(key, child)
    const handed = ack === undefined ? undefined : open.get(ack)
    if (ack === undefined || handed === undefined) return
    open.delete(ack)
    // Otherwise node:cluster passes it to one of the others.
    if (accepted !== true && handed.takers.size === 0) handed.handle.close()
  }

  const send = child.send.bind(child) as (...args: unknown[]) => boolean
  Reflect.set(child, 'send', (...args: unknown[]) => {
    const [message, handle] = args
    if (isClusterMessage(message)) noteSent(message, handle)
    return send(...args)
  })
  child.on('internalMessage', (message: unknown) => { if (isClusterMessage(message)) noteReceived(message) })
  tellOfEnd(child)
  child.once('disconnect', () => { for (const key of [...takersByKey.keys()]) leave(key, child) })
  child.once('close', () => {
    setTimeout(() => { for (const { handle } of open.values()) handle.close() }, LAST_WORDS_MS).unref()
  })
}
