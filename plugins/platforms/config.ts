import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section } from '../../core/config/setting.ts'

export const systemConfig = defineSection('system', Section({
  platforms: Type.Record(Type.String(), Type.String({ minLength: 1 }), {
    default: {}, description: 'Folder → platform of its ROMs'
  }),
  versions: Type.Record(Type.String(), Type.String({ minLength: 1 }), {
    default: {}, description: 'Folder → platform of which it is a version'
  })
}, 'Platform bindings'), { isLive: true })
