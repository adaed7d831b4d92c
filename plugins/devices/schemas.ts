import { type Static, Type } from '@sinclair/typebox'
import { DateTime, ID_MAX, Nullable, NameText, StoredText, StringEnum } from '../../core/typebox.ts'
import { type Device, SYNC_MODES } from './entities.ts'
import { SECRET_MASK } from './sync-config.ts'

/**
 * A reference to a device: its integer `id`, also as text, or its UUID `device_id`. Text comes first, because the
 * validator would turn text of 30 digits into the number `1e+30`.
 */
export const DeviceReference = Type.Union([
  Type.String({ minLength: 1, maxLength: 255 }), Type.Integer({ minimum: 1, maximum: ID_MAX })
], { description: 'Integer `id` or UUID `device_id` of a device' })

export const DeviceParams = Type.Object({ device_id: DeviceReference })

const text = (maxLength: number, options: object = {}) => Type.Optional(Nullable(NameText({ maxLength, ...options })))

/** Six pairs of hexadecimal digits in common notations; empty if a system does not know its address. */
const MAC = '^([0-9A-Fa-f]{2}([:-]?[0-9A-Fa-f]{2}){5})?$'
const mac = () => Type.Optional(Nullable(Type.String({ maxLength: 17, pattern: MAC, description: 'Hardware address' })))

const Key = Type.String({ pattern: '^[^\\u0000]{1,64}$' })
const CAPABILITIES_MAX = 32
const PATHS_MAX = 32
const PATH_LENGTH_MAX = 4_096

const fields = {
  name: text(255),
  platform: text(50),
  hostname: text(255),
  mac: mac(),
  mac_address: mac(),
  ip_address: text(45),
  client: text(50),
  client_version: text(50),
  sync_mode: Type.Optional(Nullable(StringEnum(SYNC_MODES, { default: 'push_pull' }))),
  sync_config: Type.Optional(Nullable(Type.Object({
    ssh_password: text(4_096, {
      description: `Shown as ${SECRET_MASK}; this mask as a value keeps the secret for the same host, port and user`
    }),
    ssh_private_key: text(16_384, { description: 'In PEM or OpenSSH format; masked in the same way' }),
    ssh_passphrase: text(4_096, { description: 'Passphrase of the private key; masked in the same way' }),
    ssh_key_path: text(4_096, { description: 'A file in SYNC_SSH_KEYS_PATH; masked in the same way' }),
    ssh_host_key: text(200, {
      description: "SHA-256 of the host's key, as `ssh-keygen -lf` prints it. The first key is stored; null deletes it"
    })
  }, {
    additionalProperties: true,
    description: 'Settings of transfers. A change of `ssh_*` or `save_directories` also needs the scopes `assets.read` and `assets.write`'
  }))),
  paths: Type.Optional(Nullable(Type.Record(Key, StoredText({ maxLength: PATH_LENGTH_MAX }), {
    maxProperties: PATHS_MAX, additionalProperties: false, description: 'Folders on the device: roms, saves, states'
  }))),
  capabilities: Type.Optional(Nullable(Type.Record(Key, Type.Boolean(), {
    maxProperties: CAPABILITIES_MAX, additionalProperties: false, description: 'Capabilities of the device, such as remote_install'
  })))
}

export const RegisterDeviceSchema = Type.Object({
  ...fields,
  client_device_identifier: Type.Optional(Nullable(StoredText({
    minLength: 1, maxLength: 255, description: 'Stable for one installation; the first property by which a known device is recognized'
  }))),
  allow_existing: Type.Optional(Type.Boolean({ default: true, description: 'Returns a known device instead of an error' })),
  allow_duplicate: Type.Optional(Type.Boolean({ default: false, description: 'Always creates a new device' })),
  reset_syncs: Type.Optional(Type.Boolean({ default: false, description: 'Deletes the sync state of a known device' }))
}, { title: 'RegisterDevice' })
export type RegisterDevice = Static<typeof RegisterDeviceSchema>

export const UpdateDeviceSchema = Type.Object({
  ...fields, sync_enabled: Type.Optional(Nullable(Type.Boolean({ description: 'True if the device may sync' })))
}, { title: 'UpdateDevice' })
export type UpdateDevice = Static<typeof UpdateDeviceSchema>

const NullableText = Nullable(Type.String())

/** The id of a device that its registration returned. */
export const DeviceIdSchema = Type.Union([Type.Integer(), Type.String({ format: 'uuid' })], {
  title: 'DeviceId',
  description: 'Integer for a device that registered without `client` and `client_version`, UUID for any other'
})
export type DeviceId = Static<typeof DeviceIdSchema>
export const deviceIdOf = (device: Pick<Device, 'id' | 'device_id' | 'is_numbered'>): DeviceId =>
  device.is_numbered ? device.id : device.device_id

export const DeviceRecordSchema = Type.Object({
  device_id: Type.String({ format: 'uuid' }),
  user_id: Type.Integer(),
  name: NullableText,
  platform: NullableText,
  hostname: NullableText,
  mac: NullableText,
  mac_address: NullableText,
  ip_address: NullableText,
  client: NullableText,
  client_version: NullableText,
  client_device_identifier: NullableText,
  sync_mode: StringEnum(SYNC_MODES),
  sync_enabled: Type.Boolean(),
  sync_config: Nullable(Type.Object({}, { additionalProperties: true })),
  paths: Nullable(Type.Record(Type.String(), Type.String())),
  capabilities: Nullable(Type.Record(Type.String(), Type.Boolean())),
  last_seen: Nullable(DateTime),
  created_at: DateTime,
  updated_at: DateTime
}, { title: 'DeviceRecord' })
export const DeviceSchema = Type.Composite([
  Type.Object({
    id: Type.String({ format: 'uuid', description: 'The same as `device_id`' }),
    number: Type.Integer({ description: 'The integer id of the device' })
  }),
  DeviceRecordSchema
], { title: 'Device' })
export type DeviceView = Static<typeof DeviceSchema>
/** Apps that send `client` would use an `id` as the id in lists, which is the UUID. Their response has no `id`. */
export const RegisteredDeviceSchema = Type.Composite([
  Type.Object({
    id: Type.Optional(Type.Integer({ description: 'Only present if neither `client` nor `client_version` was sent' }))
  }),
  DeviceRecordSchema
], { title: 'RegisteredDevice' })
export type RegisteredDevice = Static<typeof RegisteredDeviceSchema>

export const DeviceExistsSchema = Type.Object({
  detail: Type.Object({ error: Type.Literal('device_exists'), message: Type.String(), device_id: Type.String() })
}, { title: 'DeviceExists' })
