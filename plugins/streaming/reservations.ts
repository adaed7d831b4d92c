import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError } from '../../core/errors.ts'
import { formatDate } from '../../core/typebox.ts'
import { selectVisibleRoms } from '../roms/visible-rows.ts'
import { toBrokerError } from './broker.ts'
import { streamingConfig } from './config.ts'
import type { UsableContainer } from './containers.ts'
import { type Endings, explainLapse } from './endings.ts'
import { type NewClaim, type Reservation, type SessionRow, release, reserve, selectSessions } from './rows.ts'

/** Added to the launch timeout, because the process that follows a launch must be able to end it first. */
const LAUNCH_SLACK_SECONDS = 60

type ContainerReservation = Extract<Reservation, { claim: string }>

/** @throws ApiError CONFLICT with details about the session that holds the machine */
async function refuseBusy (context: Context, holder: SessionRow | null): Promise<never> {
  const isDraining = holder?.state === 'draining'
  const romId = holder === null || isDraining ? null : holder.rom_id
  const isSeen = romId !== null && (await selectVisibleRoms(context, [romId])).has(romId)
  throw new ApiError('CONFLICT', 'Session in use', {
    fields: {
      rom_name: isSeen ? holder?.rom_name ?? null : null,
      claimed_at: holder === null || isDraining ? null : formatDate(holder.claimed_at),
      draining: isDraining
    }
  })
}

/** Creates the reservations of machines, each of which is released if the work on its machine fails. */
export function createReservations (app: FastifyInstance, config: Config, endings: Endings) {
  /** Reserves the first free machine. @throws ApiError CONFLICT */
  async function reserveFree (
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

  return { reserveFree, orRelease }
}
