import { Type } from '@sinclair/typebox'
import { Section } from '../../core/config/setting.ts'

export const SystemSchema = Section({
  platforms: Type.Record(Type.String(), Type.String({ minLength: 1 }), {
    default: {}, description: 'Folder → platform it is read as'
  }),
  versions: Type.Record(Type.String(), Type.String({ minLength: 1 }), {
    default: {}, description: 'Folder → platform it is a version of'
  })
}, 'Platform bindings')
