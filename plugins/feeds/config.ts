import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section } from '../../core/config/setting.ts'

export const feedsConfig = defineSection('feeds', Section({
  tinfoil_welcome_message: Type.String({
    default: 'Switch library', env: 'TINFOIL_WELCOME_MESSAGE',
    description: 'Greeting that Tinfoil shows when it opens its feed'
  })
}, 'Feeds for consoles'))
