import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { databaseDate, databaseNow } from '../../core/database/clock.ts'
import type { Db } from '../../core/database/db.ts'
import { formatDate } from '../../core/typebox.ts'
import { userRoom } from '../../core/sockets/sockets.ts'
import type { Broker } from './broker.ts'
import { type UsableContainer, listUsable } from './containers.ts'
import './events.ts'
import { type SessionRow, drain, storeEnding, release } from './rows.ts'
import type { SessionTermination } from './schemas.ts'
import { type Ending, toTerminationView } from './views.ts'

const SECOND_MS = 1_000

/** Returns the reason why a session lapsed without a release. */
export function explainLapse ({ is_silent: isSilent, state }: SessionRow): Ending {
  if (isSilent) return { by: null, reason: 'The player did not send a heartbeat any more' }
  // The process that follows a launch ends it in time, unless that process or its machine is gone.
  const reason = state === 'launching' ? 'The game did not start in time; start it again' : 'The time limit of the session was over'
  return { by: null, reason }
}

/** Returns the machine of a session, if it is still configured. */
const findContainer = (config: Config, { container }: SessionRow): UsableContainer | null =>
  listUsable(config).find(({ id }) => id === container) ?? null

/** Stores the time that a game was played. */
async function storePlayTime (app: FastifyInstance, session: SessionRow): Promise<void> {
  const { started_at: start, rom_id: romId, user_id: userId, device_id: deviceId } = session
  const end = session.is_silent ? session.seen_at : databaseNow()
  if (start === null || romId === null || end - start < SECOND_MS) return
  try {
    await app.playSessions.ingest(app.db, {
      user_id: userId,
      device_id: deviceId,
      sync_session_id: null,
      entries: [{
        rom_id: romId, start_time: formatDate(start), end_time: formatDate(end), duration_ms: end - start
      }]
    })
  } catch (err) {
    app.log.error({ err, rom: romId, user: userId }, 'the play time of a streamed game could not be stored')
  }
}

/** Stores the ending by another cause for the next request of the player's app. */
async function storeTermination (db: Db, session: SessionRow, ending: Ending): Promise<SessionTermination> {
  const termination = toTerminationView(session, ending, databaseDate())
  await storeEnding(db, session.user_id, session.platform, termination)
  return termination
}

/** Creates the common steps at the end of a session, for every way it can end. */
export function createEndings (app: FastifyInstance, config: Config, broker: Broker) {
  /** Notifies a player whose session was ended by another cause. */
  async function notifyPlayer (session: SessionRow, ending: Ending, termination: SessionTermination): Promise<void> {
    const { ended_by: endedBy, reason, ended_at: endedAt, rom_id: romId, rom_name: romName, desktop } = termination
    app.sockets.publish(userRoom(session.user_id), 'streaming:session-ended', {
      platform: session.platform,
      container: session.container,
      claimed_at: formatDate(session.claimed_at),
      ended_by: endedBy,
      reason,
      ended_at: endedAt,
      rom_id: romId,
      rom_name: romName,
      desktop
    })
    if (romId === null) return
    await app.notifications.notify({
      kind: 'streaming_session_ended',
      to: [session.user_id],
      data: { rom_id: romId, rom_name: romName ?? '', reason: ending.reason },
      actor_id: ending.by?.id ?? null
    })
  }

  return {
    storePlayTime: (session: SessionRow) => storePlayTime(app, session),

    /**
     * Stores the play time and notifies the player, for a session whose machine is already released or claimed again.
     */
    async finishSession (session: SessionRow, ending: Ending): Promise<void> {
      if (session.state === 'draining') return
      await storePlayTime(app, session)
      await notifyPlayer(session, ending, await storeTermination(app.db, session, ending))
    },

    /**
     * Ends a session and releases its machine.
     *
     * @param ending null if the player ends the session
     * @returns true if the session was still running
     */
    async end (session: SessionRow, ending: Ending | null): Promise<boolean> {
      if (!await drain(app.db, session)) return false
      // Before the broker answers, because the player's app asks only until it hears of an end.
      const termination = ending === null ? null : await storeTermination(app.db, session, ending)
      const container = findContainer(config, session)
      if (container !== null) await broker.stop(container)
      await release(app.db, session)
      await storePlayTime(app, session)
      if (ending !== null && termination !== null) await notifyPlayer(session, ending, termination)
      return true
    }
  }
}
export type Endings = ReturnType<typeof createEndings>
