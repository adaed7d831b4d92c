import type { FastifyInstance } from 'fastify'
import { type Caller, isAdministrator } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import type { Broker } from './broker.ts'
import { checkSlot } from './controls.ts'
import { type Endings, explainLapse } from './endings.ts'
import { claimedByOther, isOwn, listConfigured, listSessionsOf, requireHeld } from './held-sessions.ts'
import {
  type SessionRow, drain, release, releaseLater, selectAllSessions, selectOver
} from './rows.ts'
import type { Release } from './schemas.ts'
import type { Ending } from './views.ts'

/** Seconds until a machine is free after a save without waiting. */
const DRAIN_SECONDS = 5
const BY_ADMIN = 'Ended by an administrator'

/** Returns null if players end their own session. */
const endingOf = (caller: Caller, session: SessionRow, reason = BY_ADMIN): Ending | null =>
  session.user_id === caller.id ? null : { by: { id: caller.id, username: caller.username }, reason }

async function stopActivity (app: FastifyInstance, context: Context, session: SessionRow): Promise<void> {
  const { caller } = context
  const { user_id: userId, device_id: deviceId } = session
  if (userId === caller.id && deviceId !== null) await app.activity.stop(context, deviceId)
}

/** Creates the ways in which people, and the lapse of time, release machines. */
export function createReleases (
  app: FastifyInstance, config: Config, { broker, endings }: { broker: Broker, endings: Endings }
) {
  return {
    /**
     * Saves the game and releases the machine, even if saving fails. Without waiting, the release happens a little
     * later.
     *
     * @returns true if the game was saved
     */
    async saveAndExit (
      context: Context, platform: string, slot: number, waits: boolean
    ): Promise<boolean> {
      const { caller } = context
      const held = requireHeld(await listConfigured(app.db, config, platform), caller, platform)
      if (slot !== 0) checkSlot(held, slot, platform)
      const { session, container } = held
      if (!await drain(app.db, session)) throw claimedByOther()
      const saved = await broker.saveAndExit(container, slot, waits)
      if (waits) await release(app.db, session)
      else await releaseLater(app.db, session, DRAIN_SECONDS)
      const ending = endingOf(caller, session)
      if (ending === null) await endings.storePlayTime(session)
      else await endings.finishSession(session, ending)
      await stopActivity(app, context, session)
      return saved
    },

    /**
     * Releases a machine; saves the game first only on request.
     *
     * @returns false if there is no session to end
     * @throws ApiError FORBIDDEN if another user has the session
     */
    async release (
      context: Context, platform: string, { reason, container, save }: Release
    ): Promise<boolean> {
      const { caller } = context
      const held = (await listSessionsOf(app.db, config, platform)).filter(({ session }) =>
        session.state !== 'draining' && (container === undefined || session.container === container))
      const found = held.find(isOwn(caller)) ?? held[0]
      if (found === undefined) return false
      if (found.session.user_id !== caller.id && !isAdministrator(caller)) throw claimedByOther()
      if (save) await broker.saveAndExit(found.container, 0, true)
      const isEnded = await endings.end(found.session, endingOf(caller, found.session, reason))
      await stopActivity(app, context, found.session)
      return isEnded
    },

    /** Releases all machines. @returns the ids of released machines */
    async releaseAll (caller: Caller, reason: string | undefined): Promise<string[]> {
      const released: string[] = []
      for (const session of await selectAllSessions(app.db)) {
        const isEnded = session.state === 'draining'
          ? await release(app.db, session)
          : await endings.end(session, endingOf(caller, session, reason))
        if (isEnded) released.push(session.container)
      }
      return released
    },

    /** Ends sessions that lapsed without a release. */
    async endLapsed (): Promise<void> {
      for (const session of await selectOver(app.db)) {
        if (session.state === 'draining') await release(app.db, session)
        else await endings.end(session, explainLapse(session))
      }
    }
  }
}
