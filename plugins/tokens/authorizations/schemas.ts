import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, NameText, StoredText, StringEnum } from '../../../core/typebox.ts'
import { SCOPES } from '../../../core/access/scopes.ts'
import { LifetimeSchema } from '../schemas.ts'

const shortText = () => Type.Optional(Nullable(NameText({ maxLength: 50 })))

export const DeviceAuthInitSchema = Type.Object({
  client_device_identifier: StoredText({ minLength: 1, maxLength: 255, description: 'Stable for one installation' }),
  name: NameText({ minLength: 1, maxLength: 255 }),
  client: NameText({ minLength: 1, maxLength: 50 }),
  platform: shortText(),
  client_version: shortText(),
  requested_scopes: Type.Array(StringEnum(SCOPES), { minItems: 1, maxItems: SCOPES.length })
}, {
  title: 'DeviceAuthInit',
  examples: [{
    client_device_identifier: '5f1c6a30-installation', name: 'My handheld', client: 'my-app', platform: 'linux',
    client_version: '1.2.0', requested_scopes: ['roms.read', 'assets.read', 'assets.write']
  }]
})
export type DeviceAuthInit = Static<typeof DeviceAuthInitSchema>

export const DeviceAuthInitResponse = Type.Object({
  device_code: Type.String({ description: 'The secret with which the device polls for its token' }),
  user_code: Type.String({ description: 'The code that the user types, or that the QR code contains' }),
  verification_uri: Type.String({ description: 'Absolute address at which the user types the code, as in RFC 8628' }),
  verification_uri_complete: Type.String({ description: 'The same address with the code in it, for a QR code' }),
  verification_path: Type.String({
    description: 'The path of that address, below the base URL'
  }),
  verification_path_complete: Type.String(),
  expires_in: Type.Integer({ description: 'Seconds' }),
  interval: Type.Integer({ description: 'Seconds between two polls' })
}, { title: 'DeviceAuthInitResponse' })

const UserCode = Type.String({ minLength: 1, maxLength: 32, description: 'The code that the device shows' })
export const UserCodeSchema = Type.Object({ user_code: UserCode }, { title: 'UserCode' })

export const DeviceAuthPendingSchema = Type.Object({
  client_device_identifier: Type.String(),
  name: Type.String(),
  client: Type.String(),
  platform: Nullable(Type.String()),
  client_version: Nullable(Type.String()),
  requested_scopes: Type.Array(Type.String()),
  allowed_scopes: Type.Array(Type.String(), { description: 'The requested scopes that you have' }),
  expires_at: DateTime
}, { title: 'DeviceAuthPending' })

export const DeviceAuthApproveSchema = Type.Object({
  user_code: UserCode,
  // Scopes that were not requested, or that the caller lacks, are forbidden and not invalid, so the service checks
  // them.
  approved_scopes: Type.Array(Type.String({ maxLength: 50 }), { maxItems: SCOPES.length, description: 'At least one' }),
  device_name: Type.Optional(Nullable(NameText({ maxLength: 255 }))),
  expires_in: LifetimeSchema
}, { title: 'DeviceAuthApprove' })
export type DeviceAuthApprove = Static<typeof DeviceAuthApproveSchema>

export const DeviceAuthApproveResponse = Type.Object({
  device_id: Type.String(), device_number: Type.Integer(), device_name: Nullable(Type.String())
}, { title: 'DeviceAuthApproveResponse' })

export const DeviceCodeSchema = Type.Object({ device_code: Type.String({ minLength: 1, maxLength: 128 }) }, { title: 'DeviceCode' })

export const DeviceAuthTokenResponse = Type.Object({
  access_token: Type.String({ description: 'A client token; returned only once' }),
  device_id: Type.String(),
  device_number: Type.Integer(),
  scopes: Type.Array(Type.String()),
  expires_at: Nullable(DateTime)
}, { title: 'DeviceAuthTokenResponse' })
export type DeviceAuthToken = Static<typeof DeviceAuthTokenResponse>
