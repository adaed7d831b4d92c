import { LockMode } from '@mikro-orm/core'
import type { FastifyInstance } from 'fastify'
import { databaseDate } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'
import { badRequest } from '../../../core/errors.ts'
import { sha256 } from '../../../core/access/secrets.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { formatDate } from '../../../core/typebox.ts'
import { createThrottle } from '../../auth/throttle-rows.ts'
import type { DeviceAuthToken } from './schemas.ts'
import { DeviceAuthorization } from '../entities.ts'
import { quotas } from '../codes/quotas.ts'
import { TOKEN_SEAL } from '../raw-token.ts'

/** Seconds between two polls, which the device is told. */
export const INTERVAL_SECONDS = 5
/** A poll that is early by less than a second is early only by its clock or the network. */
const EARLY_MS = (INTERVAL_SECONDS - 1) * 1_000

/** The reason why a device does not get its token; RFC 8628, section 3.5. */
type Refusal = 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token'

/** The polls of devices that wait for an answer. */
export function createPolls (app: FastifyInstance) {
  const throttle = createThrottle(app.db)

  /** Deleting the row ensures that the token is handed out only once. */
  async function issueToken (tx: Db, row: DeviceAuthorization): Promise<DeviceAuthToken | Refusal> {
    await tx.em.populate(row, ['token.device'])
    await tx.em.nativeDelete(DeviceAuthorization, { id: row.id })
    const raw = row.sealed_token ? app.secrets.open(TOKEN_SEAL, row.sealed_token) : null
    // The device was deleted meanwhile, or the server's key changed.
    if (raw === null || !row.token?.device) return 'expired_token'
    const { device, scopes, expires_at: expiry } = row.token
    return {
      access_token: raw,
      device_id: device.device_id,
      device_number: device.id,
      scopes,
      expires_at: formatDate(expiry ?? null)
    }
  }

  async function answerPoll (tx: Db, deviceCode: string): Promise<DeviceAuthToken | Refusal> {
    const row = await tx.em.findOne(DeviceAuthorization, {
      device_code_hash: sha256(deviceCode), expires_at: { $gt: databaseDate() }
    }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (row === null) return 'expired_token'
    if (row.status === 'denied') return 'access_denied'
    if (row.status === 'approved') return await issueToken(tx, row)
    const now = databaseDate()
    if (row.polled_at && now.getTime() - row.polled_at.getTime() < EARLY_MS) return 'slow_down'
    row.polled_at = now
    return 'authorization_pending'
  }

  return {
    /**
     * Returns the token of an approved device, once. @throws ApiError BAD_REQUEST with the reason that the device must
     * handle.
     */
    async poll (db: Db, deviceCode: string, address: string): Promise<DeviceAuthToken> {
      await throttle.countUse(quotas.devicePoll(address))
      const answered = await inTransaction(db, (tx) => answerPoll(tx, deviceCode))
      if (typeof answered === 'string') throw badRequest(answered)
      return answered
    }
  }
}
