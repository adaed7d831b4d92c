import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError, conflict, notFound } from '../../core/errors.ts'
import { formatDate } from '../../core/typebox.ts'
import { decisionNeeded } from './errors.ts'
import type { Broker, Launch } from './broker.ts'
import { type UsableContainer, listUsable } from './containers.ts'
import type { Endings } from './endings.ts'
import { noContainer } from './held-sessions.ts'
import type { createLauncher } from './launch.ts'
import { locateLibrary } from './locate-library.ts'
import { createReservations } from './reservations.ts'
import { type GameRow, activate, selectGame } from './rows.ts'
import type { Claim, DesktopSession, LaunchingSession } from './schemas.ts'
import { romNotFound } from '../roms/rom-not-found.ts'

interface Files { state_path?: string, memory_card_path?: string }

/** @throws ApiError DECISION_NEEDED if there is a memory card of another game and no decision about it */
async function checkCard (broker: Broker, container: UsableContainer, { card_import: decision }: Claim): Promise<void> {
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
 * @throws ApiError NOT_FOUND, CONFLICT if the files are in a bucket, because the machines read them from a folder
 */
async function findFiles (app: FastifyInstance, context: Context, claim: Claim): Promise<Files> {
  const { rom_id: romId, state_id: stateId, memory_card_id: cardId } = claim
  const hasFile = [stateId, cardId].some((id) => id !== undefined && id !== null)
  if (hasFile && app.store.folder === null) {
    throw conflict('A game cannot start with a state or a memory card, because the files of this server are in a bucket ' +
      '(SVC_STORE_URL); claim it without state_id and memory_card_id')
  }
  const find = (kind: 'state' | 'save', id: number) => app.assets.findContentPath(context, kind, id, romId)
  return {
    ...(stateId === undefined || stateId === null ? {} : { state_path: await find('state', stateId) }),
    ...(cardId === undefined || cardId === null ? {} : { memory_card_path: await find('save', cardId) })
  }
}

/** The folders of the library and of the assets, with their paths on the broker's machine. */
interface MachineDirs { library: string, assets: string }

/** Returns the launch request for the broker, with paths on the broker's machine. */
function toLaunch (
  dirs: MachineDirs, { game, claim }: { game: GameRow, claim: Claim }, files: Files, isJoinable: boolean
): Launch {
  return {
    rom_path: join(dirs.library, game.fs_path, game.fs_name),
    rom_name: game.name,
    platform: game.platform,
    multiplayer: isJoinable && claim.multiplayer === true,
    ...(files.state_path === undefined ? {} : { state_path: join(dirs.assets, files.state_path) }),
    ...(files.memory_card_path === undefined ? {} : { memory_card_path: join(dirs.assets, files.memory_card_path) }),
    ...(claim.card_import === undefined || claim.card_import === null ? {} : { card_import: claim.card_import })
  }
}

/** Creates the ways to reserve a machine, for a game or for its desktop. */
export function createClaims (
  app: FastifyInstance, config: Config,
  { broker, endings, launch }: { broker: Broker, endings: Endings, launch: ReturnType<typeof createLauncher> }
) {
  const { reserveFree, orRelease } = createReservations(app, config, endings)

  return {
    /**
     * Reserves a machine for a game and starts the game; events report the progress.
     *
     * @throws ApiError NOT_FOUND, CONFLICT, DECISION_NEEDED, BROKER_FAILED or UNAVAILABLE
     */
    async claim (context: Context, claim: Claim): Promise<LaunchingSession> {
      const { caller } = context
      const game = await selectGame(context, claim.rom_id)
      if (game === null) throw romNotFound(claim.rom_id)
      const containers = listUsable(config).filter(({ platform }) => platform === game.platform)
      if (containers.length === 0) throw noContainer(game.platform)
      const files = await findFiles(app, context, claim)
      const libraryOn = await locateLibrary(app.library, game.library_id)
      const { container, reserved } = await reserveFree(context, containers, {
        platform: game.platform, rom_id: game.id, rom_name: game.name, multiplayer: claim.multiplayer === true
      })
      await orRelease(reserved, () => checkCard(broker, container, claim))
      const dirs = { library: libraryOn(container), assets: container.assets_path ?? join(config.data_dir, 'assets') }
      launch(container, { ...reserved, user_id: caller.id, platform: game.platform },
        toLaunch(dirs, { game, claim }, files, container.joinable), reserved.former !== null)
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
      const { container, reserved } = await reserveFree(context, withDesktop, {
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
