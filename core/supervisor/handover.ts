import type { ChildProcess } from 'node:child_process'

interface Handle { close (): void }
/** What node:cluster says to a worker when it hands a connection over, and what the worker answers to it. */
interface Handover { act: 'newconn', seq: number }
interface Answer { ack: number }

/** What a worker answered last is read by then: a connection that it gave back is another's. */
const LAST_WORDS_MS = 100

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isHandle = (value: unknown): value is Handle => isObject(value) && 'close' in value
const isHandover = (value: unknown): value is Handover =>
  isObject(value) && 'act' in value && value.act === 'newconn' && 'seq' in value
const isAnswer = (value: unknown): value is Answer => isObject(value) && 'ack' in value

/**
 * Closes the connections that a web worker was handed and never took because it died. node:cluster keeps its own copy
 * of each until the worker answers, and forgets it when none comes: the client would wait for ever.
 */
export function closeUntaken (child: ChildProcess): void {
  const open = new Map<number, Handle>()
  const send = child.send.bind(child) as (...args: unknown[]) => boolean
  Reflect.set(child, 'send', (...args: unknown[]) => {
    const [message, handle] = args
    if (isHandover(message) && isHandle(handle)) open.set(message.seq, handle)
    return send(...args)
  })
  child.on('internalMessage', (message: unknown) => { if (isAnswer(message)) open.delete(message.ack) })
  child.once('close', () => {
    setTimeout(() => { for (const handle of open.values()) handle.close() }, LAST_WORDS_MS).unref()
  })
}
