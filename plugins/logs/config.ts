import { defineSection } from '../../core/config/section.ts'
import { Section, Switch } from '../../core/config/setting.ts'

export const logsConfig = defineSection('logs', Section({
  disable_viewer: Switch('DISABLE_LOGS_VIEWER', 'Stores no log lines for administrators')
}, 'The log in the web app'))
