import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Match } from '@svc/plugin-sdk'
import { createRom } from '@svc/plugin-sdk/testing'
import { scopeOf, startTroublemaker } from '../loader/troublemaker.ts'

/**
 * Measures calls of a plugin in its plugin process: alone, as in a scan, with calls back to the host, and many at once.
 * The base is the time that Node itself needs for a message and its reply.
 */
const CALLS = 5_000
const AT_ONCE = 50
const TARGET_MS = 0.3
const ECHO = "process.on('message', (message) => { process.send(message) })"
const ends: (() => unknown)[] = []

/** @returns milliseconds per call */
async function time (atOnce: number, call: () => Promise<unknown>): Promise<number> {
  const work = async (calls: number) => { for (let done = 0; done < calls; done++) await call() }
  await work(CALLS / 10)
  const before = performance.now()
  await Promise.all(Array.from({ length: atOnce }, () => work(CALLS / atOnce)))
  return (performance.now() - before) / CALLS
}

/** Starts a process that only echoes messages. */
function startEcho (): () => Promise<unknown> {
  const child = fork('-', [], { execPath: process.execPath, execArgv: ['-e', ECHO], serialization: 'advanced' })
  ends.push(() => child.kill())
  return async () => {
    const answer = once(child, 'message')
    child.send({})
    return await answer
  }
}

const { process: apart, open, tell } = await startTroublemaker({ teardown: (end: () => unknown) => { ends.push(end) } })
const identify = apart.call('identify')
/** A match of another provider, of some kilobytes. */
const known: Match = {
  id: 1, name: 'Chrono Harbor', summary: 'A port, and what becomes of it. '.repeat(60),
  metadata: { releases: Array.from({ length: 20 }, (_, number) => ({ number, region: 'us', date: '1995-03-11' })) }
}
const rom = createRom({ fs_name: 'answer x', sha1_hash: 'a'.repeat(40) })
const found = new Map([['igdb', known]])

const floor = await time(1, startEcho())
const print = (name: string, ms: number) => {
  const verdict = ms <= TARGET_MS ? '' : `, more than the ${TARGET_MS} ms it may take`
  process.stdout.write(`${name}: ${ms.toFixed(3)} ms a call, ${(ms / floor).toFixed(1)} times an echo${verdict}\n`)
}
print('an empty message there and back', floor)
print('one after the other', await time(1, () => tell('answer x')))
print('as a scan calls it', await time(1, async () => await identify(rom, open({ ...scopeOf(), found }))))
print('with two questions back', await time(1, () => tell('cache x')))
print(`${AT_ONCE} at once`, await time(AT_ONCE, () => tell('answer x')))
for (const end of ends.reverse()) await end()
