import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section } from '../../core/config/setting.ts'

export const devicesConfig = defineSection('devices', Section({
  install_enabled: Type.Boolean({
    default: true,
    env: 'DEVICE_INSTALL_ENABLED',
    description: 'Allows users to send games to their devices, and devices to connect for this'
  }),
  install_request_ttl_days: Type.Number({
    default: 2,
    minimum: 0,
    maximum: 36500,
    env: 'DEVICE_INSTALL_REQUEST_TTL_DAYS',
    description: 'Days after which an install request without progress is deleted; 0 means never'
  }),
  install_excluded_platforms: Type.Array(Type.String({ minLength: 1 }), {
    default: ['win', 'win3x', 'win9x', 'windows-apps'],
    env: 'DEVICE_INSTALL_EXCLUDED_PLATFORM_SLUGS',
    description: 'Slugs of platforms whose games are not sent to devices'
  })
}, 'Devices'))
