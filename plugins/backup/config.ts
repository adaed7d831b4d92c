import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Formatted, Section, Switch } from '../../core/config/setting.ts'

export const backupConfig = defineSection('backup', Section({
  dir: Type.Optional(Type.String({
    minLength: 1, env: 'SVC_BACKUP_DIR', description: 'Folder of backups; default: `backups` in the data directory'
  })),
  keep: Type.Integer({
    default: 7, minimum: 1, maximum: 1000, env: 'SVC_BACKUP_KEEP',
    description: 'Number of backups that the task keeps; older ones are deleted'
  }),
  passphrase: Type.Optional(Type.String({
    minLength: 12,
    writeOnly: true,
    env: 'SVC_BACKUP_PASSPHRASE',
    description: 'Encrypts the secret key and config.yml in backups; needed to restore them'
  })),
  secret_key: Type.Boolean({
    default: true,
    env: 'SVC_BACKUP_SECRET_KEY',
    description: 'True if backups contain the secret key, which needs a passphrase'
  }),
  incremental: Type.Boolean({
    default: false,
    env: 'SVC_BACKUP_INCREMENTAL',
    description:
      'Writes the contents of files into `svc-parts` beside the backups, once for all of them; a backup then ' +
      'needs that folder too'
  }),
  before_upgrade: Type.Boolean({
    default: true,
    env: 'SVC_BACKUP_BEFORE_UPGRADE',
    description:
      'Backs up the database before a new release changes its schema; the newest three are kept in the data ' +
      'directory'
  }),
  scheduled: Switch('ENABLE_SCHEDULED_BACKUP', 'Makes a backup on a schedule'),
  scheduled_cron: Formatted('cron', {
    default: '0 2 * * *', env: 'SCHEDULED_BACKUP_CRON', description: 'Schedule, in UTC'
  })
}, 'Backups'))
