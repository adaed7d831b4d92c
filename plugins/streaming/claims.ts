import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { formatDate } from '../../core/typebox.ts'
import { brokerFailed, decisionNeeded } from './errors.ts'
import { streamingConfig } from './config.ts'
import { type Broker, BrokerRefusedError, BrokerUnreachableError, type Launch } from './broker.ts'
import { type UsableContainer, listUsable } from './containers.ts'
import { type Endings, explainLapse } from './endings.ts'
import type { createLauncher } from './launch.ts'
import { locateLibrary } from './locate-library.ts'
import {
  type GameRow, type NewClaim, type Reservation, type SessionRow, activate, release, reserve, selectGame,
  selectSessions, selectVisible
} from './rows.ts'
import type { Claim, DesktopSession, LaunchingSession } from './schemas.ts'

/** Added to the launch timeout, because the process that follows a launch must be able to end it first. */
const LAUNCH_SLACK_SECONDS = 60

export const noContainer = (platform: string) => notFound(`No streaming container configured for platform '${platform}'`)

/** Converts a failure of a broker to the error for the caller. */
export function toBrokerError (err: unknown): unknown {
  if (err instanceof BrokerRefusedError) return brokerFailed(err.message, { cause: err })
  if (err instanceof BrokerUnreachableError) return new ApiError('UNAVAILABLE', err.message, { cause: err })
  return err
}

type ContainerReservation = Extract<Reservation, { claim: string }>

interface Files { state_path?: string, memory_card_path?: string }

export function createClaims (
  app: FastifyInstance, config: Config,
  { broker, endings, launch }: { broker: Broker, endings: Endings, launch: ReturnType<typeof createLauncher> }
) {
  /** @throws ApiError CONFLICT with details about the session that holds the machine */
  async function refuseBusy (context: Context, holder: SessionRow | null): Promise<never> {
    const isDraining = holder?.state === 'draining'
    const romId = holder === null || isDraining ? null : holder.rom_id
    const isSeen = romId !== null && (await selectVisible(context, [romId])).has(romId)
    throw new ApiError('CONFLICT', 'Session in use', {
      fields: {
        rom_name: isSeen ? holder?.rom_name ?? null : null,
        claimed_at: holder === null || isDraining ? null : formatDate(holder.claimed_at),
        draining: isDraining
      }
    })
  }

  /** Reserves the first free machine. @throws ApiError CONFLICT */
  async function claimFree (
    context: Context, containers: readonly UsableContainer[], request: Omit<NewClaim, 'user_id' | 'device_id' | 'seconds'>
  ): Promise<{ container: UsableContainer, reserved: ContainerReservation }> {
    const { caller } = context
    const ids = containers.map(({ id }) => id)
    const reserved = await reserve(app.db, ids, {
      ...request,
      user_id: caller.id,
      device_id: caller.device_id,
      seconds: streamingConfig.of(config).launch_timeout_seconds + LAUNCH_SLACK_SECONDS
    })
    if ('busy_session' in reserved) {
      return await refuseBusy(context, reserved.busy_session ?? (await selectSessions(app.db, ids))[0] ?? null)
    }
    const container = containers.find(({ id }) => id === reserved.container)
    if (container === undefined) throw new Error('the reserved machine is not one of the requested machines')
    if (reserved.former !== null) {
      await endings.finishSession(reserved.former, explainLapse(reserved.former))
    }
    return { container, reserved }
  }

  /** Runs work on a reserved machine, and releases the machine if the work fails. */
  async function orRelease<T> (reserved: ContainerReservation, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (err) {
      await release(app.db, reserved)
      throw toBrokerError(err)
    }
  }

  /** @throws ApiError DECISION_NEEDED if there is a memory card of another game and no decision about it */
  async function checkCard (container: UsableContainer, { card_import: decision }: Claim): Promise<void> {
    if (!container.memory_cards || (decision !== undefined && decision !== null)) return
    const { outcome, summary = null, reason = null } = await broker.findCard(container)
    if (outcome === 'none') return
    throw decisionNeeded('There is a memory card on the machine; claim it again with card_import, adopt or discard', {
      fields: { code: 'memory_card_import_required', outcome, summary, reason }
    })
  }

  /**
   * Returns the paths of the player's files to start with, below the local assets folder.
   *
   * @throws ApiError NOT_FOUND
   */
  async function findFiles (context: Context, claim: Claim): Promise<Files> {
    const { rom_id: romId, state_id: stateId, memory_card_id: cardId } = claim
    const find = (kind: 'state' | 'save', id: number) => app.assets.findContentPath(context, kind, id, romId)
    return {
      ...(stateId === undefined || stateId === null ? {} : { state_path: await find('state', stateId) }),
      ...(cardId === undefined || cardId === null ? {} : { memory_card_path: await find('save', cardId) })
    }
  }

  /** Returns the launch request for the broker, with paths on the broker's machine. */
  function toLaunch (
    container: UsableContainer, libraryDir: string, game: GameRow, claim: Claim, files: Files
  ): Launch {
    const assetsDir = container.assets_path ?? join(config.data_dir, 'assets')
    return {
      rom_path: join(libraryDir, game.fs_path, game.fs_name),
      rom_name: game.name,
      platform: game.platform,
      multiplayer: container.joinable && claim.multiplayer === true,
      ...(files.state_path === undefined ? {} : { state_path: join(assetsDir, files.state_path) }),
      ...(files.memory_card_path === undefined ? {} : { memory_card_path: join(assetsDir, files.memory_card_path) }),
      ...(claim.card_import === undefined || claim.card_import === null ? {} : { card_import: claim.card_import })
    }
  }

  return {
    /**
     * Reserves a machine for a game and starts the game; events report the progress.
     *
     * @throws ApiError NOT_FOUND, CONFLICT, DECISION_NEEDED, BROKER_FAILED or UNAVAILABLE
     */
    async claim (context: Context, claim: Claim): Promise<LaunchingSession> {
      const { caller } = context
      const game = await selectGame(context, claim.rom_id)
      if (game === null) throw notFound(`ROM with ID '${claim.rom_id}' not found`)
      const containers = listUsable(config).filter(({ platform }) => platform === game.platform)
      if (containers.length === 0) throw noContainer(game.platform)
      const files = await findFiles(context, claim)
      const libraryOn = await locateLibrary(app.library, game.library_id)
      const { container, reserved } = await claimFree(context, containers, {
        platform: game.platform, rom_id: game.id, rom_name: game.name, multiplayer: claim.multiplayer === true
      })
      await orRelease(reserved, () => checkCard(container, claim))
      launch(container, { ...reserved, user_id: caller.id, platform: game.platform },
        toLaunch(container, libraryOn(container), game, claim, files), reserved.former !== null)
      return {
        platform: game.platform,
        container: container.id,
        label: container.label,
        rom_name: game.name,
        claimed_at: formatDate(reserved.claimed_at),
        host: container.host
      }
    },

    /**
     * Reserves a machine for its desktop.
     *
     * @throws ApiError NOT_FOUND, BAD_REQUEST, CONFLICT, BROKER_FAILED or UNAVAILABLE
     */
    async openDesktop (context: Context, id: string): Promise<DesktopSession> {
      const entries = listUsable(config).filter((container) => container.id === id)
      if (entries.length === 0) throw notFound(`No streaming container '${id}' configured`)
      const withDesktop = entries.filter(({ desktop }) => desktop).slice(0, 1)
      const [entry] = withDesktop
      if (entry === undefined) {
        throw new ApiError('BAD_REQUEST', `The streaming container '${id}' has no desktop; set desktop in its configuration`)
      }
      const { container, reserved } = await claimFree(context, withDesktop, {
        platform: entry.platform, rom_id: null, rom_name: null, multiplayer: false
      })
      await orRelease(reserved, async () => {
        if (reserved.former !== null) await broker.stop(container)
        await broker.openDesktop(container)
      })
      await activate(app.db, reserved)
      return {
        container: container.id,
        platform: container.platform,
        host: container.host,
        label: container.label,
        claimed_at: formatDate(reserved.claimed_at)
      }
    }
  }
}
