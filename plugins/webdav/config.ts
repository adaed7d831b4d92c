import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section } from '../../core/config/setting.ts'

export const webdavConfig = defineSection('webdav', Section({
  quota_bytes: Type.Integer({
    default: 1073741824,
    minimum: 0,
    env: 'WEBDAV_QUOTA_BYTES',
    description: 'Maximum size in bytes of all configurations, thumbnails and system files that one user stores through ' +
      'WebDAV; 0 means no limit'
  })
}, 'WebDAV'))
