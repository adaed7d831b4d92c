import type { FastifyBaseLogger } from 'fastify'
import { storeClockDifference } from '../database/clock.ts'
import type { Queryable } from '../database/db.ts'

const HEARTBEAT_MS = 2_000
/** A process that holds its lock but was silent for this long counts as hung. */
export const SILENT_SECONDS = 12
const SILENT_MS = SILENT_SECONDS * 1_000

interface HeartbeatOptions {
  session: Queryable
  /** The id of the process in `workers`. */
  id: string
  log: FastifyBaseLogger
  /**
   * Called when the database vanished without closing the connection, as a machine without power does. Others count
   * this process as hung, and another database may have taken over.
   */
  onSilence (err: Error): void
}

async function storeHeartbeat (session: Queryable, id: string): Promise<void> {
  const before = Date.now()
  const { rows: [measured] } = await session.query<{ now: number }>(`update workers set seen_at = now(),
    clock_ahead_ms = greatest(least($2 - extract(epoch from clock_timestamp()) * 1000, 2000000000), -2000000000) where id = $1
    returning extract(epoch from clock_timestamp())::float8 * 1000 as now`, [id, before])
  if (measured !== undefined) storeClockDifference({ before, database: measured.now, after: Date.now() })
}

/** Creates the heartbeat of a process, which tells the others that it works, and measures its clock. */
export function createHeartbeat ({ session, id, log, onSilence }: HeartbeatOptions) {
  let timer: NodeJS.Timeout | undefined
  /** The number of heartbeats that were due since the database answered one, and the time of the first. */
  let unanswered = 0
  let askedAt = 0

  /** True if the database is silent. After a pause of this process, answers wait to be read. */
  const isSilent = () => unanswered > SILENT_MS / HEARTBEAT_MS && performance.now() - askedAt > SILENT_MS

  function beat (): void {
    if (unanswered++ > 0) {
      if (isSilent()) onSilence(new Error(`The database did not answer for ${SILENT_SECONDS} s`))
      return
    }
    askedAt = performance.now()
    storeHeartbeat(session, id).catch((err: unknown) => {
      log.error({ err }, 'the heartbeat of the process could not be stored')
    }).finally(() => { unanswered = 0 })
  }

  return {
    async start (): Promise<void> {
      await storeHeartbeat(session, id)
      timer = setInterval(beat, HEARTBEAT_MS)
    },
    stop: () => { clearInterval(timer) }
  }
}
