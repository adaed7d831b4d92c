import type { FastifyInstance } from 'fastify'
import type { Db } from '../../core/database/db.ts'
import { AuditEvent } from './entities.ts'

/**
 * A security event: who did what, from which address, and to which object. It never contains a password, token or code.
 */
export interface AuditRecord {
  /** The name of the event, such as `sign_in.failed`. */
  event: AuditEventName
  user?: { id: number, username: string } | null
  /** The username from the request, if no such account exists. */
  username?: string
  address: string
  details?: Record<string, string | number | boolean | null>
}

export type AuditEventName =
  'sign_in.succeeded' | 'sign_in.failed' | 'sign_in.throttled' | 'sign_out' | 'session.revoked' | 'token.created' |
  'token.revoked' | 'token.regenerated' | 'token.paired' | 'device.approved' | 'device.denied' | 'device.deleted' |
  'password.reset_requested' | 'password.reset' | 'password.changed' | 'user.created' | 'user.invited' |
  'user.registered' | 'user.updated' | 'user.linked' | 'user.disabled' | 'user.enabled' | 'user.deleted' |
  'user.uploads_restored' | 'role.changed' | 'permissions.changed' | 'platform.deleted' | 'rom.deleted' |
  'rom_file.deleted' | 'trash.restored' | 'trash.emptied' | 'firmware.deleted' | 'save.deleted' | 'state.deleted' |
  'screenshot.deleted' | 'collection.deleted' | 'playlist.deleted' | 'play_session.deleted' | 'task.run' |
  'task.stopped' | 'scan.started' | 'scan.stopped' | 'export.written' | 'channel.created' | 'channel.updated' |
  'channel.deleted' | 'channel.confirmed' | 'settings.changed' | 'dat.uploaded' | 'dat.updated' | 'dat.deleted'

const LONGEST_NAME = 255
const DAY_MS = 86_400_000
/** Returns the text in a form that the database accepts. */
const clean = (text: string) => text.slice(0, LONGEST_NAME).replaceAll('\0', '').toWellFormed()
const cleanAll = (details: NonNullable<AuditRecord['details']>) => Object.fromEntries(
  Object.entries(details).map(([name, value]) => [name, typeof value === 'string' ? clean(value) : value]))

export function createAudit (app: FastifyInstance) {
  return {
    /** Stores a record and logs it. A record that cannot be stored is logged and stops nothing. */
    async record (given: AuditRecord): Promise<void> {
      const { event, user = null, username = user?.username ?? '', address, details = {} } = given
      const row = { event, username: clean(username), address, details: cleanAll(details) }
      app.log.info(row, 'security event')
      try {
        await app.db.em.insert(AuditEvent, { ...row, user_id: user?.id ?? null })
      } catch (err) {
        app.log.error({ err, event }, 'security event was not recorded')
      }
    },

    /** Lists the records, newest first. */
    async list (db: Db, { limit, offset }: { limit: number, offset: number }) {
      const [items, total] = await db.em.findAndCount(AuditEvent, {}, { orderBy: { id: 'desc' }, limit, offset })
      return { items, total, limit, offset }
    },

    /** @returns the number of older records that were deleted */
    async dropOlderThan (days: number): Promise<number> {
      const since = new Date(Date.now() - days * DAY_MS)
      return await app.db.em.nativeDelete(AuditEvent, { created_at: { $lt: since } })
    }
  }
}
