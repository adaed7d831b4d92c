import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section } from '../../core/config/setting.ts'

export const assetsConfig = defineSection('assets', Section({
  max_upload_bytes: Type.Integer({
    default: 536870912, minimum: 0, env: 'MAX_ASSET_UPLOAD_SIZE_BYTES', description: 'Maximum size of one upload in bytes; 0 means no limit'
  }),
  max_autocleanup_limit: Type.Integer({
    default: 100, minimum: 1, env: 'MAX_AUTOCLEANUP_LIMIT', description: 'Highest number of saves of a slot that a client may choose to keep'
  }),
  versions_kept: Type.Integer({
    default: 10,
    minimum: 0,
    env: 'ASSET_VERSIONS_KEPT',
    description: 'Number of newest former contents of each save, state and slot that are all kept. Of older ones, one ' +
      'per hour, day and week is kept; those of the last day are kept unless the quota is exceeded'
  }),
  versions_kept_days: Type.Integer({
    default: 90, minimum: 1, env: 'ASSET_VERSIONS_KEPT_DAYS', description: 'Number of days that former contents and deleted files are kept'
  }),
  quota_bytes: Type.Integer({
    default: 53687091200,
    minimum: 0,
    env: 'ASSET_QUOTA_BYTES',
    description: 'Maximum size in bytes of all files of one user, former contents included; 0 means no limit'
  })
}, 'Saves, states and screenshots'))
