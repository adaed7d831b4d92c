import { setTimeout as sleep } from 'node:timers/promises'

/** The gap between two checks. It is short at first and grows, because a check may start a process. */
const GAP_MIN_MS = 5
const GAP_MAX_MS = 100
const WAIT_MS = 60_000

export interface UntilOptions {
  /** The time limit; default a minute, enough for a busy machine. */
  ms?: number | undefined
  /** Returns the output to show after a timeout. */
  output? (): string
}

/** A result, without the values that mean "not yet". */
type Answer<T> = Exclude<T, null | undefined | false>

/** Calls `ask` until it returns a result; a condition returns true. */
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
