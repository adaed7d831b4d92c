import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section } from '../../core/config/setting.ts'

export const consoleConfig = defineSection('console', Section({
  enabled: Type.Boolean({
    default: true, env: 'SVC_CONSOLE_ENABLED', description: 'Serves the web pages of this server; SVC_WEB_DIR replaces them'
  })
}, 'The web pages of this server'))
