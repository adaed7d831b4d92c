import { type Caller, isAdministrator } from '../../core/access/auth.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { forbidden, notFound } from '../../core/errors.ts'
import { type UsableContainer, listUsable } from './containers.ts'
import { type SessionRow, selectSessions } from './rows.ts'

const CLAIMED = 'Session is claimed by another user'

/** A session with its machine. */
export interface HeldSession { session: SessionRow, container: UsableContainer }

export const noContainer = (platform: string) => notFound(`No streaming container configured for platform '${platform}'`)

export const claimedByOther = () => forbidden(CLAIMED)

/** Lists the machines of a platform, given as a path parameter. */
function listContainersOf (config: Config, named: string): UsableContainer[] {
  const platform = named.toLowerCase()
  return listUsable(config).filter((container) => container.platform === platform)
}

/** Lists the sessions of a platform with their machines. */
export async function listSessionsOf (db: Db, config: Config, named: string): Promise<HeldSession[]> {
  const containers = listContainersOf(config, named)
  const sessions = await selectSessions(db, containers.map(({ id }) => id))
  return sessions.flatMap((session) => {
    const container = containers.find(({ id, platform }) => id === session.container && platform === session.platform)
    return container === undefined ? [] : [{ session, container }]
  })
}

/** Lists the sessions of a platform. @throws ApiError NOT_FOUND if no machine is configured for the platform */
export async function listConfigured (db: Db, config: Config, platform: string): Promise<HeldSession[]> {
  if (listContainersOf(config, platform).length === 0) throw noContainer(platform)
  return await listSessionsOf(db, config, platform)
}

const isDraining = ({ session }: HeldSession) => session.state === 'draining'

export const isOwn = (caller: Caller) => (held: HeldSession) => held.session.user_id === caller.id && !isDraining(held)

/**
 * Returns the caller's own session among those of a platform; for an administrator without one, any session, and one
 * that is being ended only if there is no other.
 *
 * @throws ApiError NOT_FOUND, or FORBIDDEN if another user has the session
 */
export function requireHeld (sessions: readonly HeldSession[], caller: Caller, platform: string): HeldSession {
  const ofOthers = isAdministrator(caller) ? sessions.find((held) => !isDraining(held)) ?? sessions[0] : undefined
  const found = sessions.find(isOwn(caller)) ?? ofOthers
  if (found !== undefined) return found
  throw sessions.length > 0
    ? claimedByOther()
    : notFound(`No active session for platform '${platform}'`)
}
