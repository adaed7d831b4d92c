import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Config } from '../../core/config/config.ts'
import { shareableBaseUrl } from '../../core/config/base-url.ts'
import { readIndexSchedule } from '../../core/loader/search-index/index-schedule.ts'
import { API_VERSION, VERSION } from '../../core/version.ts'
import { devicesConfig } from '../devices/config.ts'
import { tasksConfig } from '../tasks/config.ts'
import { logsConfig } from '../logs/config.ts'
import { readSettings } from '../oidc/settings.ts'
import { readFlags } from './flags.ts'
import { createHealth } from './health.ts'
import { createTimedMemo } from './timed-memo.ts'
import type { Heartbeat } from './schemas.ts'
import { createProviderChecks } from './providers.ts'

/** Apps ask all the time, and the values rarely change faster than people notice. */
const CACHE_MS = 1_000

/** The served dialect's defaults for schedules that this server does not have. */
const ABSENT_CRON = '0 4 * * *'

/** Returns the sign-in options that login pages need. All are off if OpenID Connect cannot work. */
function readOidcFlags (config: Config): Heartbeat['OIDC'] {
  const { settings } = readSettings(config)
  return {
    ENABLED: settings !== null,
    AUTOLOGIN: settings?.autologin ?? false,
    PROVIDER: settings?.provider ?? '',
    RP_INITIATED_LOGOUT: settings?.rp_initiated_logout ?? false
  }
}

function readSchedules ({ registry }: FastifyInstance, config: Config): Heartbeat['TASKS'] {
  const tasks = tasksConfig.of(config)
  const launchboxIndex = registry.providers.get('launchbox')?.definition.index
  const launchbox = launchboxIndex && readIndexSchedule('launchbox', config)
  return {
    ENABLE_SCHEDULED_RESCAN: tasks.scheduled_rescan,
    SCHEDULED_RESCAN_CRON: tasks.scheduled_rescan_cron,
    ENABLE_SCHEDULED_UPDATE_SWITCH_TITLEDB: tasks.update_switch_titledb,
    SCHEDULED_UPDATE_SWITCH_TITLEDB_CRON: tasks.update_switch_titledb_cron,
    ENABLE_SCHEDULED_UPDATE_LAUNCHBOX_METADATA: launchbox?.enabled ?? false,
    SCHEDULED_UPDATE_LAUNCHBOX_METADATA_CRON: launchbox?.cron ?? ABSENT_CRON,
    ENABLE_SCHEDULED_CONVERT_IMAGES_TO_WEBP: tasks.convert_images_to_webp,
    SCHEDULED_CONVERT_IMAGES_TO_WEBP_CRON: tasks.convert_images_to_webp_cron
  }
}

export function createHeartbeat (app: FastifyInstance, config: Config) {
  const { auth } = config
  const devices = devicesConfig.of(config)
  /** These caches hold data of all callers. Each answer removes the parts that its caller may not see. */
  const folders = createTimedMemo<string[]>(CACHE_MS)
  const flags = createTimedMemo<Heartbeat['METADATA_SOURCES']>(CACHE_MS)
  let hasAdminUntil = 0
  const oidc = readOidcFlags(config)
  const schedules = readSchedules(app, config)

  /**
   * Only a positive result is cached, because the wizard checks again right after it creates the first administrator.
   */
  async function hasAdmin (): Promise<boolean> {
    if (performance.now() < hasAdminUntil) return true
    const hasOne = await app.users.hasAdmin()
    if (hasOne) hasAdminUntil = performance.now() + CACHE_MS
    return hasOne
  }

  async function listFolders (caller: Caller | null): Promise<string[]> {
    if (caller?.scopes.has('platforms.read') !== true) return []
    const found = await folders('', () => app.setup.listPlatforms())
    const hidden = await app.platforms.listHiddenFolders({ db: app.db, caller })
    return found.filter((folder) => !hidden.has(folder))
  }

  return {
    providers: createProviderChecks(app, config),
    health: createHealth(app),

    /** Returns the facts that a client needs before it signs in, with the platform folders that the caller may see. */
    async read (caller: Caller | null): Promise<Heartbeat> {
      const isSetUp = await hasAdmin()
      return {
        SYSTEM: {
          VERSION: API_VERSION, SVC_VERSION: VERSION, SHOW_SETUP_WIZARD: !isSetUp && !auth.disable_setup_wizard
        },
        METADATA_SOURCES: await flags('', async () => readFlags(app.registry)),
        FILESYSTEM: { FS_PLATFORMS: await listFolders(caller) },
        EMULATION: { DISABLE_EMULATOR_JS: false, DISABLE_RUFFLE_RS: false },
        FRONTEND: {
          DISABLE_USERPASS_LOGIN: auth.disable_userpass_login,
          DISABLE_LOGS_VIEWER: logsConfig.of(config).disable_viewer,
          YOUTUBE_BASE_URL: 'https://www.youtube.com'
        },
        OIDC: oidc,
        DEVICE_INSTALL: {
          ENABLED: devices.install_enabled, EXCLUDED_PLATFORM_SLUGS: devices.install_excluded_platforms
        },
        NOTIFICATIONS: {
          EMAIL_ENABLED: app.registry.channels.has('email'),
          EMAILS_RESET_LINKS: app.mail.isConfigured && shareableBaseUrl(config) !== null
        },
        TASKS: schedules
      }
    }
  }
}
