import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError } from '../../core/errors.ts'
import { streamingConfig } from './config.ts'
import { createBroker } from './broker.ts'
import { createClaims } from './claims.ts'
import { listContainers } from './containers.ts'
import { createControls } from './controls.ts'
import { type Endings, createEndings, explainLapse } from './endings.ts'
import { type HeldSession, isOwn, listConfigured } from './held-sessions.ts'
import { createJoining } from './joining.ts'
import { createLauncher } from './launch.ts'
import { createReleases } from './releases.ts'
import { consumeEnding, renew, selectAllSessions, selectHiddenPlatforms, selectOver } from './rows.ts'
import type { AdminContainer, AdminSession, SessionStatus, StreamingConfigView } from './schemas.ts'
import { toAdminContainerView, toAdminSessionView, toStreamingConfigView } from './views.ts'

/** Creates the service that `app.streaming` is: each file has one subject, and this one composes them. */
export function createStreaming (app: FastifyInstance, config: Config) {
  const broker = createBroker(app, () => streamingConfig.of(config).save_timeout_seconds)
  const endings = createEndings(app, config, broker)
  const launch = createLauncher(app, broker, () => streamingConfig.of(config).launch_timeout_seconds)
  return {
    ...createClaims(app, config, { broker, endings, launch }),
    ...createControls(app, config, broker),
    ...createReleases(app, config, { broker, endings }),
    ...createJoining(app, config, broker),
    ...createStatus(app, config, endings)
  }
}

/** Shows the player's game to other users. */
async function publishActivity (app: FastifyInstance, context: Context, { session }: HeldSession): Promise<void> {
  const { caller } = context
  if (caller.device_id === null || session.rom_id === null || session.state !== 'active') return
  try {
    const beat = { rom_id: session.rom_id, device_id: caller.device_id }
    await app.activity.storeHeartbeat(context, beat, { socket_id: null, starts: false })
  } catch (err) {
    // The device or the ROM is gone or hidden by now, so there is nothing to show.
    if (!(err instanceof ApiError)) throw err
  }
}

/** Ends the caller's session that lapsed, whose reason would otherwise be unknown for up to a minute. */
async function endLapsed ({ db, caller }: Context, endings: Endings, platform: string): Promise<void> {
  const lapsed = (await selectOver(db)).find((session) =>
    session.user_id === caller.id && session.platform === platform && session.state !== 'draining')
  if (lapsed !== undefined) await endings.end(lapsed, explainLapse(lapsed))
}

/** Creates the views of machines and sessions, and the heartbeats that keep a session. */
function createStatus (app: FastifyInstance, config: Config, endings: Endings) {
  /** Returns the state of the caller's session on a platform, or how the last one ended. */
  async function describe (caller: Caller, platform: string, own: HeldSession | undefined): Promise<SessionStatus> {
    if (own !== undefined) {
      const { session, container } = own
      const host = session.state === 'active' ? container.host : null
      return { status: 'active', platform, extraction_phase: session.phase, host, termination: null }
    }
    await endLapsed({ db: app.db, caller }, endings, platform.toLowerCase())
    const termination = await consumeEnding(app.db, caller.id, platform.toLowerCase())
    return { status: 'ended', platform, extraction_phase: null, host: null, termination }
  }

  const findOwn = async (caller: Caller, platform: string): Promise<HeldSession | undefined> =>
    (await listConfigured(app.db, config, platform)).find(isOwn(caller))

  return {
    /** Returns the settings with the platforms that are visible to the caller. */
    async describeConfig (context: Context): Promise<StreamingConfigView> {
      const containers = listContainers(config)
      const hidden = await selectHiddenPlatforms(context, [...new Set(containers.map(({ platform }) => platform))])
      const shown = containers.filter(({ platform }) => !hidden.has(platform))
      return toStreamingConfigView(streamingConfig.of(config).enabled, shown)
    },

    /** Stores a sign of life of the caller's session. */
    async storeHeartbeat (context: Context, platform: string): Promise<SessionStatus> {
      const { caller } = context
      const own = await findOwn(caller, platform)
      if (own !== undefined) {
        await renew(app.db, own.session, true)
        await publishActivity(app, context, own)
      }
      return await describe(caller, platform, own)
    },

    status: async (caller: Caller, platform: string): Promise<SessionStatus> =>
      await describe(caller, platform, await findOwn(caller, platform)),

    async listSessions (): Promise<AdminSession[]> {
      const containers = listContainers(config)
      return (await selectAllSessions(app.db)).map((session) => toAdminSessionView(session, containers))
    },

    /** Lists every configured machine, and machines with a session that are no longer configured. */
    async listMachines (): Promise<AdminContainer[]> {
      const containers = listContainers(config)
      const sessions = await selectAllSessions(app.db)
      const ids = new Set([...containers.map(({ id }) => id), ...sessions.map(({ container }) => container)])
      return [...ids].map((id) => toAdminContainerView(id,
        containers.filter((container) => container.id === id), sessions.find(({ container }) => container === id)))
    }
  }
}
