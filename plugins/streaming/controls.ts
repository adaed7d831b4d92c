import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError, badRequest, conflict } from '../../core/errors.ts'
import { type Broker, toBrokerError } from './broker.ts'
import { hasSlot } from './emulator-slots.ts'
import { brokerFailed } from './errors.ts'
import { type HeldSession, listConfigured, requireHeld } from './held-sessions.ts'
import { locateLibrary } from './locate-library.ts'
import { renew, selectDisc } from './rows.ts'

/** @throws ApiError INVALID if the emulator has no such slot */
export function checkSlot ({ container }: HeldSession, slot: number, platform: string): void {
  if (!hasSlot(container.slots, slot)) throw new ApiError('INVALID', `Slot ${slot} is not available for platform '${platform}'`)
}

/** Creates the actions of a player on a running session. */
export function createControls (app: FastifyInstance, config: Config, broker: Broker) {
  /** Runs a broker action on a session. Success counts as a sign of life of the player. */
  async function runAction<T> (
    caller: Caller, platform: string, action: (held: HeldSession) => Promise<T>
  ): Promise<T> {
    const held = requireHeld(await listConfigured(app.db, config, platform), caller, platform)
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

  return {
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
      })
  }
}
