import { Socket } from 'node:net'
import { createMemo } from '../calls/memo.ts'
import { CHANNEL_FD, createChannel } from './channel.ts'
import { confine } from './confinement.ts'
import { type CallFacts, createRemoteContext } from './context.ts'
import { type Descriptor, METHODS, describePlugin, findMethod, readExport } from '../descriptor.ts'
import { MEMORY_WATCH_MS, OUT_OF_MEMORY } from './memory.ts'
import type { Message } from './messages.ts'
import { type Incoming, createPeer } from './peer.ts'

/**
 * Entry of the process that runs one community plugin; its argument is the largest memory in MiB. It may read the
 * plugin and its imports, and nothing else; `confine` removes all other access before the plugin's code loads.
 */
/** The most memos at once: one for each running scan, and some for other calls meanwhile. */
const MEMOS_MAX = 32
const [, , memoryMiB] = process.argv

let definition: object = {}
const memos = new Map<number, ReturnType<typeof createMemo>>()

/** Returns the memo of a scope; the oldest one is dropped when there are too many. */
function memoOf (id: number): ReturnType<typeof createMemo> {
  const memo = memos.get(id) ?? createMemo()
  memos.delete(id)
  memos.set(id, memo)
  const [oldest] = memos.keys()
  if (memos.size > MEMOS_MAX && oldest !== undefined) memos.delete(oldest)
  return memo
}

/** Returns null if the module's default export is no plugin. */
async function load (url: string): Promise<Descriptor | null> {
  const { default: exported } = await import(url) as { default?: unknown }
  const plugin = readExport(exported)
  if (plugin === null) return null
  definition = plugin.definition
  return describePlugin(plugin.kind as Descriptor['kind'], definition)
}

async function serve ({ method, args, id, signal }: Incoming): Promise<unknown> {
  if (method === 'ping') return null
  if (method === 'import') return await load(String(args[0]))
  const at = METHODS[method]
  const found = findMethod(definition, method)
  if (found === undefined || at === undefined) return undefined
  if (at === null) return await found(...args)
  const facts = args[at] as CallFacts | undefined
  if (facts === undefined) return await found(...args)
  const context = createRemoteContext(peer, { scope: id, signal, memo: memoOf(facts.memo), facts })
  return await found(...args.with(at, context))
}

const { memoryUsage } = process
const exit = process.exit.bind(process)
const stream = new Socket({ fd: CHANNEL_FD })
const channel = createChannel(stream, {
  onMessage: (message) => { peer.receive(message as Message) },
  onFault: () => { exit(1) }
})
const peer = createPeer({ send: (message) => { channel.send(message) }, serve })

// The host has ended.
stream.once('close', () => { exit(0) })
// Ctrl-C in a terminal reaches every process; the host decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('uncaughtException', (err: unknown) => {
  const message = err instanceof Error ? err.message : String(err)
  channel.send({ type: 'tell', method: 'fatal', args: [message], scope: 0 } satisfies Message, () => { exit(1) })
})
// Buffers do not count for the heap's limit.
setInterval(() => {
  if (memoryUsage.rss() > Number(memoryMiB) * 1024 ** 2) exit(OUT_OF_MEMORY)
}, MEMORY_WATCH_MS).unref()
confine(stream)
peer.notify('ready', [])
