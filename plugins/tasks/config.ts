import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Formatted, Section, Switch, TIMER_MAX_SECONDS } from '../../core/config/setting.ts'

export const tasksConfig = defineSection('tasks', Section({
  timeout_seconds: Type.Integer({
    default: 300,
    minimum: 1,
    maximum: TIMER_MAX_SECONDS,
    env: 'TASK_TIMEOUT',
    description: 'Maximum duration of a task in seconds'
  }),
  result_ttl_seconds: Type.Integer({
    default: 86400, minimum: 1, env: 'TASK_RESULT_TTL', description: 'Seconds that a finished task stays listed'
  }),
  scheduled_rescan: Switch('ENABLE_SCHEDULED_RESCAN', 'Scans the library on a schedule'),
  scheduled_rescan_cron: Formatted('cron', {
    default: '0 3 * * *', env: 'SCHEDULED_RESCAN_CRON', description: 'Schedule, in UTC'
  }),
  rescan_on_filesystem_change: Switch('ENABLE_RESCAN_ON_FILESYSTEM_CHANGE',
    'Watches the library and scans the platforms in which files are added or deleted'),
  rescan_on_filesystem_change_delay: Type.Number({
    default: 5,
    minimum: 0.005,
    maximum: 1440,
    env: 'RESCAN_ON_FILESYSTEM_CHANGE_DELAY',
    description: 'Minutes without a further change before that scan; fractions are allowed'
  }),
  cleanup_orphaned_resources: Switch('ENABLE_SCHEDULED_CLEANUP_ORPHANED_RESOURCES',
    'Deletes artwork of deleted ROMs on a schedule'),
  cleanup_orphaned_resources_cron: Formatted('cron', {
    default: '0 5 * * *',
    env: 'SCHEDULED_CLEANUP_ORPHANED_RESOURCES_CRON',
    description: 'Schedule, in UTC'
  }),
  convert_images_to_webp: Switch('ENABLE_SCHEDULED_CONVERT_IMAGES_TO_WEBP',
    'Writes a WebP beside each cover on a schedule, and when the server starts'),
  convert_images_to_webp_cron: Formatted('cron', {
    default: '0 4 * * *',
    env: 'SCHEDULED_CONVERT_IMAGES_TO_WEBP_CRON',
    description: 'Schedule, in UTC'
  }),
  update_switch_titledb: Switch('ENABLE_SCHEDULED_UPDATE_SWITCH_TITLEDB',
    'Downloads the table of Switch titles for the Tinfoil feed on a schedule'),
  update_switch_titledb_cron: Formatted('cron', {
    default: '0 4 * * *',
    env: 'SCHEDULED_UPDATE_SWITCH_TITLEDB_CRON',
    description: 'Schedule, in UTC'
  }),
  cleanup_sync_sessions: Type.Boolean({
    default: true,
    env: 'ENABLE_SCHEDULED_CLEANUP_SYNC_SESSIONS',
    description: 'Marks sync sessions as failed that were not completed within a day, on a schedule'
  }),
  cleanup_sync_sessions_cron: Formatted('cron', {
    default: '23 * * * *',
    env: 'SCHEDULED_CLEANUP_SYNC_SESSIONS_CRON',
    description: 'Schedule, in UTC'
  })
}, 'Background tasks'))
