import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../../core/access/auth.ts'
import type { Context } from '../../../core/access/context.ts'
import { badRequest } from '../../../core/errors.ts'
import { type ChannelPlugin, findPlugin } from '../host/channel-plugins.ts'
import type { Codes, SentCode } from './codes.ts'
import { NotificationChannel } from '../entities.ts'
import { findChannel, reloadChannel } from './find-channel.ts'
import { toSubject } from '../host/http.ts'
import { type StoredSettings, UNREADABLE, UNREADABLE_ERROR, openSettings } from '../sealed-settings.ts'

/** Sends a code to a destination. @returns null for a type of channel that needs no proof */
export async function sendCode (
  codes: Codes, caller: Caller, { key, definition }: ChannelPlugin, stored: StoredSettings
): Promise<SentCode | null> {
  if (definition.confirm === undefined) return null
  return await codes.send(caller.id, toSubject(key, stored, caller.role === 'admin'), stored.view.target)
}

/** Creates the proof that the owner of a channel reads its destination. */
export function createConfirmations (app: FastifyInstance, codes: Codes) {
  return {
    /** @throws ApiError BAD_REQUEST for an invalid code, TOO_MANY_REQUESTS after many such tries. */
    async confirm (
      context: Context, id: number, code: string, address: string
    ): Promise<NotificationChannel> {
      const { db, caller } = context
      const row = await findChannel(context, id)
      if (row.confirmed) return row
      const { target } = openSettings(app.secrets, row.sealed)?.view ?? UNREADABLE
      await codes.confirm({ id, user: caller, target }, code, address)
      return await reloadChannel(db, row)
    },

    /** @throws ApiError BAD_REQUEST if there is nothing to confirm, TOO_MANY_REQUESTS, CODE_NOT_SENT. */
    async resendCode (context: Context, id: number): Promise<void> {
      const { db, caller } = context
      const row = await findChannel(context, id)
      if (row.confirmed) throw badRequest(`The channel '${row.name}' needs no code; it is confirmed`)
      const stored = openSettings(app.secrets, row.sealed)
      if (stored === null) throw badRequest(UNREADABLE_ERROR)
      const code = await sendCode(codes, caller, findPlugin(app.registry, row.type), stored)
      if (code === null) return
      await db.em.nativeUpdate(NotificationChannel, { id, sealed: row.sealed, confirmed: false }, code)
    }
  }
}
