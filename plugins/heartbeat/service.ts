import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config.ts'
import { API_VERSION, VERSION } from '../../core/version.ts'
import { readFlags } from './flags.ts'
import { createHealth } from './health.ts'
import type { Heartbeat } from './schemas.ts'
import { createSetup } from './setup.ts'
import { createSources } from './sources.ts'

/** The served dialect's own values for schedules that this server does not have. */
const ABSENT_CRON = '0 4 * * *'

export function createHeartbeat (app: FastifyInstance, config: Config) {
  const setup = createSetup(app, config)
  const { auth, tasks } = config

  return {
    setup,
    sources: createSources(app, config),
    health: createHealth(app),

    /** What a client needs to know before it signs in. */
    async read (): Promise<Heartbeat> {
      const [hasAdmin, platforms] = await Promise.all([app.users.hasAdmin(), setup.listPlatforms()])
      return {
        SYSTEM: {
          VERSION: API_VERSION, SVC_VERSION: VERSION, SHOW_SETUP_WIZARD: !hasAdmin && !auth.disable_setup_wizard
        },
        METADATA_SOURCES: readFlags(app.registry),
        FILESYSTEM: { FS_PLATFORMS: platforms },
        EMULATION: { DISABLE_EMULATOR_JS: false, DISABLE_RUFFLE_RS: false },
        FRONTEND: {
          DISABLE_USERPASS_LOGIN: auth.disable_userpass_login,
          DISABLE_LOGS_VIEWER: false,
          YOUTUBE_BASE_URL: 'https://www.youtube.com'
        },
        OIDC: { ENABLED: false, AUTOLOGIN: false, PROVIDER: '', RP_INITIATED_LOGOUT: false },
        TASKS: {
          ENABLE_SCHEDULED_RESCAN: tasks.scheduled_rescan,
          SCHEDULED_RESCAN_CRON: tasks.scheduled_rescan_cron,
          ENABLE_SCHEDULED_UPDATE_SWITCH_TITLEDB: false,
          SCHEDULED_UPDATE_SWITCH_TITLEDB_CRON: ABSENT_CRON,
          ENABLE_SCHEDULED_UPDATE_LAUNCHBOX_METADATA: false,
          SCHEDULED_UPDATE_LAUNCHBOX_METADATA_CRON: ABSENT_CRON,
          ENABLE_SCHEDULED_CONVERT_IMAGES_TO_WEBP: false,
          SCHEDULED_CONVERT_IMAGES_TO_WEBP_CRON: ABSENT_CRON
        }
      }
    }
  }
}
