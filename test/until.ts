import { setTimeout as sleep } from 'node:timers/promises'

/** Closely at first, then less often: a question may cost a process. */
const GAP_MIN_MS = 5
const GAP_MAX_MS = 50
const WAIT_MS = 60_000

export interface UntilOptions {
  /** Whatever else the machine does meanwhile; default a minute. */
  ms?: number | undefined
  /** What to show when it waits in vain. */
  output? (): string
}

/** An answer, apart from those that mean "not yet". */
type Answer<T> = Exclude<T, null | undefined | false>

/** Asks again and again until there is an answer; a condition answers with true. */
export async function until<T> (
  ask: () => T | Promise<T>, what: string, { ms = WAIT_MS, output = () => '' }: UntilOptions = {}
): Promise<Answer<T>> {
  const deadline = performance.now() + ms
  for (let gapMs = GAP_MIN_MS; ; gapMs = Math.min(GAP_MAX_MS, gapMs * 1.5)) {
    const answer = await ask()
    if (answer !== null && answer !== undefined && answer !== false) return answer as Answer<T>
    if (performance.now() > deadline) throw new Error(`Not within ${ms} ms: ${what}\n${output()}`)
    await sleep(gapMs)
  }
}
