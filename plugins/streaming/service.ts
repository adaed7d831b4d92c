import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { type Caller, isAdministrator } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError, badRequest, conflict, forbidden, notFound } from '../../core/errors.ts'
import { brokerFailed } from './errors.ts'
import { streamingConfig } from './config.ts'
import { type Broker, createBroker } from './broker.ts'
import { createClaims, noContainer, toBrokerError } from './claims.ts'
import { type UsableContainer, listContainers, listUsable } from './containers.ts'
import { createEndings, explainLapse } from './endings.ts'
import { createLauncher } from './launch.ts'
import { locateLibrary } from './locate-library.ts'
import {
  type SessionRow, drain, release, releaseLater, renew, selectAllSessions, selectDisc, selectHiddenPlatforms,
  selectJoinable, selectOver, selectSessions, selectVisible, consumeEnding
} from './rows.ts'
import type {
  AdminContainer, AdminSession, JoinableSession, JoinedSession, Release, SessionStatus, StreamingConfigView
} from './schemas.ts'
import { hasSlot } from './emulator-slots.ts'
import {
  type Ending, toAdminContainerView, toAdminSessionView, toJoinableView, toStreamingConfigView
} from './views.ts'

/** Seconds until a machine is free after a save without waiting. */
const DRAIN_SECONDS = 5
const CLAIMED = 'Session is claimed by another user'
const BY_ADMIN = 'Ended by an administrator'

/** A session with its machine. */
interface HeldSession { session: SessionRow, container: UsableContainer }

export function createStreaming (app: FastifyInstance, config: Config) {
  const broker: Broker = createBroker(app, () => streamingConfig.of(config).save_timeout_seconds)
  const endings = createEndings(app, config, broker)
  const launch = createLauncher(app, broker, () => streamingConfig.of(config).launch_timeout_seconds)
  const claims = createClaims(app, config, { broker, endings, launch })

  /** Lists the machines of a platform, given as a path parameter. */
  const listOf = (named: string): UsableContainer[] => {
    const platform = named.toLowerCase()
    return listUsable(config).filter((container) => container.platform === platform)
  }

  /** Lists the sessions of a platform with their machines. */
  async function listSessionsOf (named: string): Promise<HeldSession[]> {
    const containers = listOf(named)
    const sessions = await selectSessions(app.db, containers.map(({ id }) => id))
    return sessions.flatMap((session) => {
      const container = containers.find(({ id, platform }) => id === session.container && platform === session.platform)
      return container === undefined ? [] : [{ session, container }]
    })
  }

  const isOwn = (caller: Caller) => ({ session }: HeldSession) => session.user_id === caller.id && session.state !== 'draining'

  /**
   * Returns the caller's own session on a platform; for an administrator without one, any session.
   *
   * @throws ApiError NOT_FOUND, or FORBIDDEN if another user has the session
   */
  async function requireSession (caller: Caller, platform: string): Promise<HeldSession> {
    if (listOf(platform).length === 0) throw noContainer(platform)
    const sessions = await listSessionsOf(platform)
    const found = sessions.find(isOwn(caller)) ?? (isAdministrator(caller) ? sessions[0] : undefined)
    if (found !== undefined) return found
    throw sessions.length > 0
      ? forbidden(CLAIMED)
      : notFound(`No active session for platform '${platform}'`)
  }

  /** Runs a broker action on a session. Success counts as a sign of life of the player. */
  async function runAction<T> (
    caller: Caller, platform: string, action: (held: HeldSession) => Promise<T>
  ): Promise<T> {
    const held = await requireSession(caller, platform)
    try {
      const result = await action(held)
      await renew(app.db, held.session)
      return result
    } catch (err) {
      const brokerError = toBrokerError(err)
      // An unreachable machine is an error of the broker, not of the server.
      throw brokerError instanceof ApiError && brokerError.code === 'UNAVAILABLE' ? brokerFailed(brokerError.message) : brokerError
    }
  }

  function checkSlot ({ container }: HeldSession, slot: number, platform: string): void {
    if (!hasSlot(container.slots, slot)) throw new ApiError('INVALID', `Slot ${slot} is not available for platform '${platform}'`)
  }

  /** Returns the state of the caller's session on a platform, or how the last one ended. */
  async function describe (caller: Caller, platform: string, own: HeldSession | undefined): Promise<SessionStatus> {
    if (own !== undefined) {
      const { session, container } = own
      const host = session.state === 'active' ? container.host : null
      return { status: 'active', platform, extraction_phase: session.phase, host, termination: null }
    }
    const termination = await consumeEnding(app.db, caller.id, platform.toLowerCase())
    return { status: 'ended', platform, extraction_phase: null, host: null, termination }
  }

  async function findOwn (caller: Caller, platform: string): Promise<HeldSession | undefined> {
    if (listOf(platform).length === 0) throw noContainer(platform)
    return (await listSessionsOf(platform)).find(isOwn(caller))
  }

  /** Shows the player's game to other users. */
  async function publishActivity (context: Context, { session }: HeldSession): Promise<void> {
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

  async function stopActivity (context: Context, session: SessionRow): Promise<void> {
    const { caller } = context
    const { user_id: userId, device_id: deviceId } = session
    if (userId === caller.id && deviceId !== null) await app.activity.stop(context, deviceId)
  }

  /** Returns null if players end their own session. */
  const endingOf = (caller: Caller, session: SessionRow, reason = BY_ADMIN): Ending | null =>
    session.user_id === caller.id ? null : { by: { id: caller.id, username: caller.username }, reason }

  return {
    claim: claims.claim,
    openDesktop: claims.openDesktop,

    /** Returns the settings with the platforms that are visible to the caller. */
    async describeConfig (context: Context): Promise<StreamingConfigView> {
      const containers = listContainers(config)
      const hidden = await selectHiddenPlatforms(context, [...new Set(containers.map(({ platform }) => platform))])
      const shown = containers.filter(({ platform }) => !hidden.has(platform))
      return toStreamingConfigView(streamingConfig.of(config).enabled, shown)
    },

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
      const held = await requireSession(caller, platform)
      if (slot !== 0) checkSlot(held, slot, platform)
      const { session, container } = held
      if (!await drain(app.db, session)) throw forbidden(CLAIMED)
      const saved = await broker.saveAndExit(container, slot, waits)
      if (waits) await release(app.db, session)
      else await releaseLater(app.db, session, DRAIN_SECONDS)
      const ending = endingOf(caller, session)
      if (ending === null) await endings.keepTime(session)
      else await endings.finishSession(session, ending)
      await stopActivity(context, session)
      return saved
    },

    setVolume: (caller: Caller, platform: string, level: number): Promise<void> =>
      runAction(caller, platform, ({ container }) => broker.setVolume(container, level)),

    mute: (caller: Caller, platform: string, mute: boolean | null): Promise<boolean | null> =>
      runAction(caller, platform, ({ container }) => broker.mute(container, mute)),

    saveState: (caller: Caller, platform: string, slot: number): Promise<void> =>
      runAction(caller, platform, async (held) => {
        checkSlot(held, slot, platform)
        await broker.saveState(held.container, slot)
      }),

    loadState: (caller: Caller, platform: string, slot: number): Promise<void> =>
      runAction(caller, platform, async (held) => {
        checkSlot(held, slot, platform)
        await broker.loadState(held.container, slot)
      }),

    /**
     * @throws ApiError BAD_REQUEST unless the file is a disc of the game, CONFLICT if the broker cannot change discs
     */
    swapDisc: ({ db, caller }: Context, platform: string, fileId: number): Promise<void> =>
      runAction(caller, platform, async ({ session, container }) => {
        if (session.rom_id === null) throw conflict('This session has no game; start a game first')
        if (container.disc_swap !== 'broker') throw conflict('This machine cannot change discs by a request; change them in the emulator')
        const disc = await selectDisc(db, session.rom_id, fileId)
        if (disc === null) throw badRequest(`The file '${fileId}' is not a disc of the game; send the id of one of its files`)
        const libraryOn = await locateLibrary(app.library, disc.library_id)
        await broker.swapDisc(container, join(libraryOn(container), disc.file_path, disc.file_name))
      }),

    /**
     * Stores a picture of the game as a screenshot.
     *
     * @throws ApiError CONFLICT on a desktop, BAD_REQUEST unless the picture is a PNG
     */
    storeFrame: (context: Context, platform: string, picture: Readable): Promise<void> =>
      runAction(context.caller, platform, async ({ session }) => {
        if (session.rom_id === null) throw conflict('This session has no game; start a game first')
        await app.assets.addPicture(context, session.rom_id, `${session.rom_name ?? 'Game'} ${Date.now()}.png`, picture)
      }),

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
      const held = (await listSessionsOf(platform)).filter(({ session }) =>
        session.state !== 'draining' && (container === undefined || session.container === container))
      const found = held.find(isOwn(caller)) ?? held[0]
      if (found === undefined) return false
      if (found.session.user_id !== caller.id && !isAdministrator(caller)) throw forbidden(CLAIMED)
      if (save) await broker.saveAndExit(found.container, 0, true)
      const isEnded = await endings.end(found.session, endingOf(caller, found.session, reason))
      await stopActivity(context, found.session)
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

    /** Stores a sign of life of the caller's session. */
    async storeHeartbeat (context: Context, platform: string): Promise<SessionStatus> {
      const { caller } = context
      const own = await findOwn(caller, platform)
      if (own !== undefined) {
        await renew(app.db, own.session, true)
        await publishActivity(context, own)
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
    },

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
      if (listOf(platform).length === 0) throw noContainer(platform)
      const active = (await listSessionsOf(platform)).filter(({ session }) =>
        session.state === 'active' && (containerId === undefined || session.container === containerId))
      const visible = await selectVisible(context, active.flatMap(({ session }) => session.rom_id ?? []))
      const seen = active.filter(({ session }) => visible.has(session.rom_id ?? 0))
      const held = seen.find(({ session }) => session.multiplayer) ?? seen[0]
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
