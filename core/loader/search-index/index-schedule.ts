import { Type } from '@sinclair/typebox'
import type { Config } from '../../config/config.ts'
import { coerceText } from '../../config/setting-values.ts'
import { type Environment, settingsEnvironment } from '../../config/environment.ts'

const NIGHTLY = '0 4 * * *'

export interface IndexSchedule { enabled: boolean, cron: string }

/**
 * Returns when a plugin's local index is rebuilt: `plugins.<key>.refresh_cron`, which enables it. The variables
 * `ENABLE_SCHEDULED_UPDATE_<KEY>_METADATA` and `SCHEDULED_UPDATE_<KEY>_METADATA_CRON` take precedence.
 */
export function readIndexSchedule (
  key: string, config: Pick<Config, 'plugins'>, env: Environment = settingsEnvironment()
): IndexSchedule {
  const name = `UPDATE_${key.toUpperCase().replaceAll('-', '_')}_METADATA`
  const section: Record<string, unknown> = config.plugins[key] ?? {}
  const given = typeof section.refresh_cron === 'string' ? section.refresh_cron : ''
  const text = env[`ENABLE_SCHEDULED_${name}`] || String(given !== '')
  return {
    enabled: coerceText(text, Type.Boolean()) === true,
    cron: env[`SCHEDULED_${name}_CRON`] || given || NIGHTLY
  }
}
