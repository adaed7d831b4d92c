import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section } from '../../core/config/setting.ts'

export const uploadsConfig = defineSection('uploads', Section({
  max_bytes: Type.Integer({
    default: 0, minimum: 0, env: 'MAX_ROM_UPLOAD_SIZE_BYTES', description: 'Maximum size in bytes of an uploaded ROM; 0 means no limit'
  }),
  quota_bytes: Type.Integer({
    default: 128 * 1024 ** 3,
    minimum: 0,
    env: 'ROM_UPLOAD_QUOTA_BYTES',
    description: 'Maximum size in bytes of all incomplete uploads of one user; 0 means no limit'
  }),
  max_open: Type.Integer({
    default: 100, minimum: 1, env: 'MAX_OPEN_ROM_UPLOADS', description: 'Maximum number of incomplete uploads of one user'
  })
}, 'Uploads of ROMs'))
