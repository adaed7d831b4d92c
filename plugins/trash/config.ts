import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section } from '../../core/config/setting.ts'

export const trashConfig = defineSection('trash', Section({
  keep_days: Type.Integer({
    default: 30,
    minimum: 0,
    maximum: 36_500,
    env: 'TRASH_KEEP_DAYS',
    description: 'Days that deleted ROMs and files stay in the folder .svc-trash of the library; 0 deletes them at once'
  })
}, 'Deleted files'))
