import { startTroublemaker } from '../loader/troublemaker.ts'

/** What a call of a plugin in a process of its own costs: alone, with a question back to the host, and many at once. */
const CALLS = 5_000
const AT_ONCE = 50
const ends: (() => unknown)[] = []
const { tell } = await startTroublemaker({ teardown: (end: () => unknown) => { ends.push(end) } })

async function measure (name: string, deed: string, atOnce: number): Promise<void> {
  const work = async (calls: number) => { for (let call = 0; call < calls; call++) await tell(deed) }
  await work(CALLS / 10)
  const before = performance.now()
  await Promise.all(Array.from({ length: atOnce }, () => work(CALLS / atOnce)))
  const ms = (performance.now() - before) / CALLS
  process.stdout.write(`${name}: ${ms.toFixed(3)} ms a call\n`)
}

await measure('one after the other', 'answer x', 1)
await measure('with two questions back', 'cache x', 1)
await measure(`${AT_ONCE} at once`, 'answer x', AT_ONCE)
for (const end of ends.reverse()) await end()
