import type { Logger } from 'pino'
import { type ArtworkFailures, type ArtworkStoreError, isDiskFull } from './failures.ts'
import { PlaceholderError } from './origins.ts'

/** Pause after a write fails on a full disk, because somebody may free space meanwhile. */
const FULL_PAUSE_MS = 30_000

type Subject = Readonly<Record<'id' | 'platform_id', number>>

/** Runs work for one picture; a failure affects only this picture. */
export type AttemptArtwork = <T>(subject: Subject, kind: string, work: () => Promise<T>, fallback: T) => Promise<T>

/** Creates the function that runs all downloads of artwork, and collects their failures. */
export function createAttempts (failures: ArtworkFailures, log: Logger, signal: AbortSignal): AttemptArtwork {
  let full: { until: number, err: ArtworkStoreError } | null = null

  function checkSpace (): void {
    if (full !== null && performance.now() < full.until) throw full.err
    full = null
  }

  function reportFailure (subject: Subject, kind: string, err: unknown): void {
    failures.add(subject.platform_id, err)
    if (full !== null && err === full.err) return
    log.warn({ err, rom: subject.id, what: kind }, 'artwork could not be fetched and stored')
    if (isDiskFull(err)) full = { until: performance.now() + FULL_PAUSE_MS, err }
  }

  return async function attempt<T> (subject: Subject, kind: string, work: () => Promise<T>, fallback: T): Promise<T> {
    try {
      checkSpace()
      return await work()
    } catch (err) {
      signal.throwIfAborted()
      if (!(err instanceof PlaceholderError)) reportFailure(subject, kind, err)
      return fallback
    }
  }
}
