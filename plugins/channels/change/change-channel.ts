import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { type Caller, isAdministrator } from '../../../core/access/auth.ts'
import type { Context } from '../../../core/access/context.ts'
import { databaseDate } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { badRequest } from '../../../core/errors.ts'
import { User } from '../../users/entities.ts'
import { lockUser } from '../../users/rows.ts'
import type { Calls } from '../host/calls.ts'
import { type ChannelPlugin, findPlugin } from '../host/channel-plugins.ts'
import type { Codes } from './codes.ts'
import { sendCode } from './confirm-channel.ts'
import { releaseDeliveries } from '../delivery/delivery-rows.ts'
import { ChannelDelivery, NotificationChannel } from '../entities.ts'
import { findChannel, reloadChannel } from './find-channel.ts'
import { type CreateChannel, type UpdateChannel, UpdateChannelSchema } from '../schemas.ts'
import { type Settings, type StoredSettings, openSettings, sealSettings } from '../sealed-settings.ts'
import { checkMove, checkSettings, mergeSettings, touchesSettings } from './settings.ts'

const CHANNELS_MAX = 20
/** Fields of a request that are not settings of the plugin. */
const COMMON = new Set(Object.keys(UpdateChannelSchema.properties))

function readTopics (topics: CreateChannel['topics']): string[] | null {
  return topics === undefined || topics === null ? null : [...new Set(topics)]
}

async function checkCount (db: Db, userId: number): Promise<void> {
  if (await db.em.count(NotificationChannel, { user: userId }) < CHANNELS_MAX) return
  throw badRequest(`There are ${CHANNELS_MAX} channels already; delete one first`)
}

interface ChangeServices { app: FastifyInstance, calls: Calls, codes: Codes }

/** Checks settings and returns them with their view. */
async function readSettings (
  { calls }: ChangeServices, caller: Caller, loaded: ChannelPlugin, settings: Settings
): Promise<StoredSettings> {
  const isAdmin = isAdministrator(caller)
  checkSettings(loaded, settings, isAdmin)
  const subject = { type: loaded.key, settings, secret_keys: [], is_admin: isAdmin }
  return { settings, is_trusted: isAdmin, ...await calls.inspect(caller.id, subject) }
}

/** Returns the columns for changed settings; none if the settings stay. */
async function changeSettings (
  services: ChangeServices, caller: Caller, row: NotificationChannel, { ...given }: UpdateChannel
) {
  if (Object.keys(given).every((name) => COMMON.has(name))) return {}
  const loaded = findPlugin(services.app.registry, row.type)
  const { definition } = loaded
  if (!touchesSettings(definition, given)) return {}
  const stored = openSettings(services.app.secrets, row.sealed)
  const settings = mergeSettings(definition, given, stored)
  const becomesTrusted = stored?.is_trusted === false && isAdministrator(caller)
  if (isDeepStrictEqual(settings, stored?.settings) && !becomesTrusted) return {}
  const next = await readSettings(services, caller, loaded, settings)
  if (stored !== null) checkMove(definition, given, stored, next)
  const code = await sendCode(services.codes, caller, loaded, next)
  return { sealed: sealSettings(services.app.secrets, next), ...(code === null ? {} : { ...code, confirmed: false }) }
}

/** Creates the changes of a user's channels. */
export function createChanges (services: ChangeServices) {
  const { app, codes } = services
  async function create ({ db, caller }: Context, input: CreateChannel): Promise<NotificationChannel> {
    const loaded = findPlugin(app.registry, input.type)
    await checkCount(db, caller.id)
    const stored = await readSettings(services, caller, loaded, mergeSettings(loaded.definition, input, null))
    const code = await sendCode(codes, caller, loaded, stored)
    return await inTransaction(db, async (tx) => {
      // The lock makes a concurrent request count the channel of the first one.
      await lockUser(tx, caller.id)
      await checkCount(tx, caller.id)
      return tx.em.create(NotificationChannel, {
        user: tx.em.getReference(User, caller.id),
        type: loaded.key,
        name: input.name.toWellFormed(),
        min_level: input.min_level ?? 'info',
        topics: readTopics(input.topics),
        sealed: sealSettings(app.secrets, stored),
        confirmed: code === null,
        ...code
      })
    })
  }

  async function update (
    context: Context, id: number, input: UpdateChannel
  ): Promise<NotificationChannel> {
    const { db, caller } = context
    const row = await findChannel(context, id)
    const settings = await changeSettings(services, caller, row, input)
    const { name, enabled, min_level: minLevel, topics } = input
    const isSwitched = enabled !== undefined && enabled !== null && enabled !== row.enabled
    const changes = {
      ...settings,
      ...(name === undefined || name === null ? {} : { name: name.toWellFormed() }),
      ...(minLevel === undefined || minLevel === null ? {} : { min_level: minLevel }),
      ...(topics === undefined ? {} : { topics: readTopics(topics) }),
      ...(isSwitched ? { enabled, ...(enabled ? { consecutive_failures: 0 } : {}) } : {})
    }
    await inTransaction(db, async (tx) => {
      await tx.em.nativeUpdate(NotificationChannel, { id }, { ...changes, updated_at: databaseDate() })
      // Waiting deliveries are obsolete after a change of the destination or after the channel was switched.
      if (isSwitched || 'confirmed' in changes) await tx.em.nativeDelete(ChannelDelivery, { channel: id })
      else if ('sealed' in changes) await releaseDeliveries(tx, id)
    })
    return await reloadChannel(db, row)
  }

  return { create, update }
}
