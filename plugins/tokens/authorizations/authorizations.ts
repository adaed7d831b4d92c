import { randomBytes } from 'node:crypto'
import { LockMode } from '@mikro-orm/core'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../../core/access/auth.ts'
import type { Context } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import { databaseDate, databaseNow } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'
import { ApiError, forbidden, notFound } from '../../../core/errors.ts'
import { isScope } from '../../../core/access/scopes.ts'
import { sha256 } from '../../../core/access/secrets.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { lockSignedIn } from '../../auth/lock-sign-in.ts'
import { createThrottle } from '../../auth/throttle-rows.ts'
import { Device } from '../../devices/entities.ts'
import type { AppDevice } from '../../devices/rows.ts'
import { User } from '../../users/entities.ts'
import type { Actor } from '../actor.ts'
import type { DeviceAuthApprove, DeviceAuthInit } from './schemas.ts'
import { createCode, readCode } from '../codes/codes.ts'
import { ClientToken, DeviceAuthorization, type DeviceRequest } from '../entities.ts'
import { quotas } from '../codes/quotas.ts'
import { INTERVAL_SECONDS } from './polls.ts'
import { TOKEN_SEAL, expiryOf, createRawToken } from '../raw-token.ts'

const REQUEST_SECONDS = 600
/** Time after the answer in which a late poll still receives it. */
const ANSWER_SECONDS = 60

const inSeconds = (seconds: number) => new Date(databaseNow() + seconds * 1_000)

/**
 * Returns the scopes to approve. @throws ApiError FORBIDDEN for none, or for one that was not requested or that the
 * caller lacks.
 */
function checkScopes (caller: Caller, approved: readonly string[], request: DeviceRequest): string[] {
  const { requested_scopes: requested } = request
  if (approved.length === 0) throw forbidden('No scope is approved; approve one, or deny the request')
  const outside = approved.filter((scope) => !isScope(scope) || !requested.includes(scope) || !caller.scopes.has(scope))
  if (outside.length > 0) throw forbidden(`The device did not request these scopes, or you do not have them: ${outside.join(', ')}; approve fewer scopes`)
  return [...new Set(approved)]
}

/** @throws ApiError NOT_FOUND for a code that is wrong, answered or expired */
async function findRequest (app: FastifyInstance, db: Db, userCode: string): Promise<DeviceAuthorization> {
  const code = readCode(userCode)
  const row = await db.em.findOne(DeviceAuthorization, {
    user_code_hash: app.secrets.sign('user-code', code), expires_at: { $gt: databaseDate() }
  })
  if (row === null) throw notFound(`No device waits with the code '${code}'; compare it with the code on the device`)
  return row
}

/** Returns the pending request and locks it until the transaction ends, so that nobody else answers it. */
async function lockPending (app: FastifyInstance, tx: Db, userCode: string): Promise<DeviceAuthorization> {
  const { id } = await findRequest(app, tx, userCode)
  const row = await tx.em.findOne(DeviceAuthorization, { id },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true })
  if (row?.status !== 'pending') throw new ApiError('GONE', 'This request was already approved or denied')
  return row
}

async function record (
  app: FastifyInstance, event: 'device.approved' | 'device.denied', by: Actor, details: Record<string, string | number>
): Promise<void> {
  await app.audit.record({ event, user: by.caller, address: by.address, details })
}

async function approve (
  app: FastifyInstance, config: Config, { db: tx, caller }: Context, input: DeviceAuthApprove
): Promise<AppDevice> {
  const row = await lockPending(app, tx, input.user_code)
  const scopes = checkScopes(caller, input.approved_scopes, row.request)
  await lockSignedIn(tx, caller)
  const name = input.device_name?.trim().toWellFormed() || row.request.name
  const device = await app.devices.findOrCreate(tx, caller.id, { ...row.request, name })
  const raw = createRawToken(config)
  row.token = tx.em.create(ClientToken, {
    user: tx.em.getReference(User, caller.id),
    device: tx.em.getReference(Device, device.id),
    name,
    token_hash: sha256(raw),
    scopes,
    expires_at: expiryOf(input.expires_in)
  })
  row.sealed_token = app.secrets.seal(TOKEN_SEAL, raw)
  row.status = 'approved'
  row.user_code_hash = null
  row.expires_at = new Date(Math.max(row.expires_at.getTime(), inSeconds(ANSWER_SECONDS).getTime()))
  return device
}

/** Signs in a device that shows a code, after its user approves the code elsewhere, by RFC 8628. */
export function createAuthorizations (app: FastifyInstance, config: Config) {
  const throttle = createThrottle(app.db)

  return {
    async init (db: Db, input: DeviceAuthInit, address: string) {
      await throttle.countUse(quotas.deviceInit(address))
      const deviceCode = randomBytes(32).toString('hex')
      const userCode = createCode()
      await db.em.insert(DeviceAuthorization, {
        device_code_hash: sha256(deviceCode),
        user_code_hash: app.secrets.sign('user-code', userCode),
        request: {
          client_device_identifier: input.client_device_identifier.toWellFormed(),
          name: input.name.toWellFormed(),
          client: input.client.toWellFormed(),
          platform: input.platform?.toWellFormed() ?? null,
          client_version: input.client_version?.toWellFormed() ?? null,
          requested_scopes: [...new Set(input.requested_scopes)]
        },
        expires_at: inSeconds(REQUEST_SECONDS)
      })
      return { device_code: deviceCode, user_code: userCode, expires_in: REQUEST_SECONDS, interval: INTERVAL_SECONDS }
    },

    /** @throws ApiError NOT_FOUND for a code that is wrong, answered or expired. */
    async getPending ({ db, caller }: Context, userCode: string): Promise<DeviceAuthorization> {
      await throttle.countUse(quotas.userCode(caller.id))
      return await findRequest(app, db, userCode)
    },

    /** @throws ApiError NOT_FOUND, GONE, or FORBIDDEN for scopes that cannot be approved. */
    async approve (db: Db, by: Actor, input: DeviceAuthApprove): Promise<AppDevice> {
      await throttle.countUse(quotas.userCode(by.caller.id))
      const device = await inTransaction(db, (tx) => approve(app, config, { db: tx, caller: by.caller }, input))
      await record(app, 'device.approved', by, { device_id: device.device_id, device_name: device.name })
      return device
    },

    /** @throws ApiError NOT_FOUND, GONE. */
    async deny (db: Db, by: Actor, userCode: string): Promise<void> {
      await throttle.countUse(quotas.userCode(by.caller.id))
      const { request } = await inTransaction(db, async (tx) => {
        const row = await lockPending(app, tx, userCode)
        return Object.assign(row, { status: 'denied', user_code_hash: null, expires_at: inSeconds(ANSWER_SECONDS) })
      })
      await record(app, 'device.denied', by, { device_name: request.name, client: request.client })
    },

    async dropExpired (): Promise<void> {
      await app.db.em.nativeDelete(DeviceAuthorization, { expires_at: { $lt: databaseDate() } })
    }
  }
}
