import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError, conflict, forbidden, notFound } from '../../core/errors.ts'
import { selectVisibleRoms } from '../roms/visible-rows.ts'
import { type Broker, toBrokerError } from './broker.ts'
import { listUsable } from './containers.ts'
import { brokerFailed } from './errors.ts'
import { listConfigured } from './held-sessions.ts'
import { type SessionRow, selectJoinable } from './rows.ts'
import type { JoinableSession, JoinedSession } from './schemas.ts'
import { toJoinableView } from './views.ts'

/** Returns the order in which a caller joins games: those open for joining first, and own ones last. */
const rankFor = ({ id }: Pick<Caller, 'id'>, { multiplayer, user_id: userId }: SessionRow): number =>
  (multiplayer ? 0 : 1) + (userId === id ? 2 : 0)

/** Creates the list of other users' games, and the way into them. */
export function createJoining (app: FastifyInstance, config: Config, broker: Broker) {
  return {
    /** Lists the games of other users that the caller may join. */
    async listJoinable (context: Context, romId: number | undefined): Promise<JoinableSession[]> {
      const joinable = listUsable(config).filter((container) => container.joinable)
      const rows = await selectJoinable(context, joinable.map(({ id }) => id), romId ?? null)
      return rows.map((row) => {
        const container = joinable.find(({ id, platform }) => id === row.container && platform === row.platform)
        return toJoinableView(row, container?.label ?? null, app.resources.marked)
      })
    },

    /**
     * Joins a game of another user; returns its address.
     *
     * @throws ApiError NOT_FOUND, FORBIDDEN if the game is not open for joining, CONFLICT if the machine does not allow
     *   joining, or BROKER_FAILED
     */
    async join (
      context: Context, platform: string, containerId: string | undefined
    ): Promise<JoinedSession> {
      const { caller } = context
      const active = (await listConfigured(app.db, config, platform)).filter(({ session }) =>
        session.state === 'active' && (containerId === undefined || session.container === containerId))
      const visible = await selectVisibleRoms(context, active.flatMap(({ session }) => session.rom_id ?? []))
      const seen = active.filter(({ session }) => visible.has(session.rom_id ?? 0))
      // A game of the caller only if there is no other: the caller plays it already.
      const [held] = seen.toSorted((a, b) => rankFor(caller, a.session) - rankFor(caller, b.session))
      if (held === undefined) throw notFound(`No active session for platform '${platform}'`)
      const { session, container } = held
      if (!session.multiplayer) throw forbidden('The session is not open for joining')
      if (!container.joinable) throw conflict('Nobody can join on this machine; an administrator can set joinable in its configuration')
      const host = await broker.join(container, caller.username).catch((err: unknown) => {
        const brokerError = toBrokerError(err)
        throw brokerError instanceof ApiError ? brokerFailed(brokerError.message) : brokerError
      })
      const { rom_id: romId, rom_name: romName } = session
      return { platform, host: host ?? container.host, label: container.label, rom_id: romId, rom_name: romName }
    }
  }
}
