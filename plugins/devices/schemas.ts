import { Type } from '@sinclair/typebox'

/** How a client names a device: its integer `id`, also as text, or its `device_id`, a UUID. */
export const DeviceReference = Type.Union([
  Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), Type.String({ minLength: 1, maxLength: 255 })
], { description: 'Integer `id` or UUID `device_id` of a device' })
