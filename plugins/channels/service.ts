import type { ChannelDefinition, OutgoingNotification } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import { Value } from '@sinclair/typebox/value'
import { type Caller, isAdministrator } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { badRequest, invalid, notFound } from '../../core/errors.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import { type Quota, createThrottle } from '../auth/throttle-rows.ts'
import { User } from '../users/entities.ts'
import { lockUser } from '../users/rows.ts'
import type { Calls } from './calls.ts'
import type { SentCode, createCodes } from './codes.ts'
import { ChannelDelivery, NotificationChannel } from './entities.ts'
import type { ChannelSubject } from './http.ts'
import {
  type AppriseService, AppriseServiceSchema, type CreateChannel, type Parsed, ParsedSchema, type TestResult,
  type UpdateChannel, UpdateChannelSchema
} from './schemas.ts'
import { type StoredSettings, type Settings, UNREADABLE, UNREADABLE_ERROR, isTrusted, openSettings, sealSettings } from './sealed-settings.ts'
import { checkMove, checkSettings, isSame, mergeSettings, touchesSettings } from './settings.ts'

const CHANNELS_MAX = 20
/** Fields of a request that are not settings of the plugin. */
const COMMON = new Set(Object.keys(UpdateChannelSchema.properties))
const APPRISE = 'apprise'

const testQuota = (userId: number): Quota => ({ key: `channel-test:${userId}`, max: 10, seconds: 60 })

const createSample = (): OutgoingNotification => ({
  event: 'notification',
  id: 0,
  kind: 'custom',
  level: 'info',
  title: 'Test notification',
  body: 'Notifications arrive here.',
  url: null,
  data: {},
  actor: null,
  created_at: new Date().toISOString()
})

type Channel = Loaded<ChannelDefinition>

export function createChannels (app: FastifyInstance, calls: Calls, codes: ReturnType<typeof createCodes>) {
  const throttle = createThrottle(app.db)
  const open = (row: NotificationChannel) => openSettings(app.secrets, row.sealed)

  /** @throws ApiError BAD_REQUEST for a type that is not set up, INVALID for an unknown one. */
  function findPlugin (type: string): Channel {
    const loaded = app.registry.channels.get(type)
    if (loaded !== undefined) return loaded
    const record = app.registry.records.find(({ kind, key }) => kind === 'channel' && key === type)
    if (record !== undefined) {
      throw badRequest(`Channels of the type '${type}' are not available on this server; an administrator can correct this: ` +
        (record.reason ?? 'see the log of the server'))
    }
    const knownTypes = [...app.registry.channels.keys()].join(', ')
    throw invalid(['body', 'type'], `There is no channel type '${type}'; use one of: ${knownTypes}`, type)
  }

  const channelNotFound = (id: number) => notFound(`Notification channel with ID '${id}' not found`)

  async function find ({ db, caller }: Context, id: number): Promise<NotificationChannel> {
    const row = await db.em.findOne(NotificationChannel, { id, user: caller.id })
    if (row === null) throw channelNotFound(id)
    return row
  }

  /** @throws ApiError NOT_FOUND if the channel was deleted meanwhile. */
  async function reload (db: Db, row: NotificationChannel): Promise<NotificationChannel> {
    const { id } = row
    const found = await db.em.refresh(row)
    if (found === null) throw channelNotFound(id)
    return found
  }

  async function checkCount (db: Db, userId: number): Promise<void> {
    if (await db.em.count(NotificationChannel, { user: userId }) < CHANNELS_MAX) return
    throw badRequest(`There are ${CHANNELS_MAX} channels already; delete one first`)
  }

  const toSubject = (caller: Caller, type: string, stored: StoredSettings): ChannelSubject => ({
    type,
    settings: stored.settings,
    secret_keys: stored.view.stored_secrets ?? [],
    is_admin: isTrusted(stored, caller.role === 'admin')
  })

  /** Checks settings and returns them with their view. */
  async function readSettings (caller: Caller, loaded: Channel, settings: Settings): Promise<StoredSettings> {
    const isAdmin = isAdministrator(caller)
    checkSettings(loaded, settings, isAdmin)
    const subject = { type: loaded.key, settings, secret_keys: [], is_admin: isAdmin }
    return { settings, is_trusted: isAdmin, ...await calls.inspect(caller.id, subject) }
  }

  /** Null for a kind of channel that needs no proof. */
  async function sendCode (
    caller: Caller, { key, definition }: Channel, stored: StoredSettings
  ): Promise<SentCode | null> {
    if (definition.confirm === undefined) return null
    return await codes.send(caller.id, toSubject(caller, key, stored), stored.view.target)
  }

  async function create ({ db, caller }: Context, input: CreateChannel): Promise<NotificationChannel> {
    const loaded = findPlugin(input.type)
    await checkCount(db, caller.id)
    const stored = await readSettings(caller, loaded, mergeSettings(loaded.definition, input, null))
    const code = await sendCode(caller, loaded, stored)
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

  /** Returns the columns for changed settings; none if the settings stay. */
  async function changeSettings (caller: Caller, row: NotificationChannel, { ...given }: UpdateChannel) {
    if (Object.keys(given).every((name) => COMMON.has(name))) return {}
    const loaded = findPlugin(row.type)
    const { definition } = loaded
    if (!touchesSettings(definition, given)) return {}
    const stored = open(row)
    const settings = mergeSettings(definition, given, stored)
    const becomesTrusted = stored?.is_trusted === false && isAdministrator(caller)
    if (isSame(settings, stored?.settings) && !becomesTrusted) return {}
    const next = await readSettings(caller, loaded, settings)
    if (stored !== null) checkMove(definition, given, stored, next)
    const code = await sendCode(caller, loaded, next)
    return { sealed: sealSettings(app.secrets, next), ...(code === null ? {} : { ...code, confirmed: false }) }
  }

  async function update (
    context: Context, id: number, input: UpdateChannel
  ): Promise<NotificationChannel> {
    const { db, caller } = context
    const row = await find(context, id)
    const settings = await changeSettings(caller, row, input)
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
      await tx.em.nativeUpdate(NotificationChannel, { id }, { ...changes, updated_at: new Date() })
      // Waiting deliveries are obsolete after a change of the destination or after the channel was switched.
      if (isSwitched || 'confirmed' in changes) await tx.em.nativeDelete(ChannelDelivery, { channel: id })
    })
    return await reload(db, row)
  }

  const storeSuccess = (db: Db, id: number) => db.em.nativeUpdate(NotificationChannel, { id },
    { last_delivered_at: new Date(), last_error: null, consecutive_failures: 0 })

  /** Sends a sample. @returns the error, or null */
  async function deliverSample (caller: Caller, row: NotificationChannel): Promise<string | null> {
    const stored = open(row)
    if (stored === null) return UNREADABLE_ERROR
    const outcome = await calls.deliver(caller.id, toSubject(caller, row.type, stored), createSample())
    return outcome.ok ? null : outcome.failure.message
  }

  return {
    list: ({ db, caller }: Context) =>
      db.em.find(NotificationChannel, { user: caller.id }, { orderBy: { id: 'asc' } }),

    create,
    update,

    async delete (context: Context, id: number): Promise<void> {
      const { db } = context
      const row = await find(context, id)
      await db.em.nativeDelete(NotificationChannel, { id: row.id })
    },

    /** @throws ApiError BAD_REQUEST if the channel is not confirmed. */
    async test (context: Context, id: number): Promise<TestResult> {
      const { db, caller } = context
      const row = await find(context, id)
      if (!row.confirmed) throw badRequest(`The channel '${row.name}' is not confirmed yet; enter the code that was sent`)
      await throttle.countUse(testQuota(caller.id))
      const error = await deliverSample(caller, row)
      if (error === null) await storeSuccess(db, id)
      else await db.em.nativeUpdate(NotificationChannel, { id }, { last_error: error })
      return { ok: error === null, error }
    },

    /** @throws ApiError BAD_REQUEST for an invalid code, TOO_MANY_REQUESTS after many such tries. */
    async confirm (
      context: Context, id: number, code: string, address: string
    ): Promise<NotificationChannel> {
      const { db, caller } = context
      const row = await find(context, id)
      if (row.confirmed) return row
      const { target } = open(row)?.view ?? UNREADABLE
      await codes.confirm({ id, user: caller, target }, code, address)
      return await reload(db, row)
    },

    /** @throws ApiError BAD_REQUEST if there is nothing to confirm, TOO_MANY_REQUESTS, CODE_NOT_SENT. */
    async resendCode (context: Context, id: number): Promise<void> {
      const { db, caller } = context
      const row = await find(context, id)
      if (row.confirmed) throw badRequest(`The channel '${row.name}' needs no code; it is confirmed`)
      const stored = open(row)
      if (stored === null) throw badRequest(UNREADABLE_ERROR)
      const code = await sendCode(caller, findPlugin(row.type), stored)
      if (code === null) return
      await db.em.nativeUpdate(NotificationChannel, { id, sealed: row.sealed, confirmed: false }, code)
    },

    /** @throws ApiError BAD_REQUEST with the message of the plugin. */
    async listServices (caller: Caller): Promise<AppriseService[]> {
      findPlugin(APPRISE)
      const services = await calls.services(caller.id, APPRISE)
      return services.filter((one): one is AppriseService => Value.Check(AppriseServiceSchema, one))
    },

    /** @throws ApiError BAD_REQUEST for a URL that no service has. */
    async parse (caller: Caller, url: string): Promise<Parsed> {
      findPlugin(APPRISE)
      const parsed = await calls.parse(caller.id, APPRISE, url)
      if (!Value.Check(ParsedSchema, parsed)) {
        throw badRequest('No available service has a URL of this form; compare it with the URLs of the service')
      }
      return parsed
    }
  }
}
export type Channels = ReturnType<typeof createChannels>

function readTopics (topics: CreateChannel['topics']): string[] | null {
  return topics === undefined || topics === null ? null : [...new Set(topics)]
}
