import { type Static, Type } from '@sinclair/typebox'
import { Nullable, StringEnum } from '../../core/typebox.ts'
import { FIXED_FLAGS } from './flags.ts'

export const HeartbeatSchema = Type.Object({
  SYSTEM: Type.Object({
    VERSION: Type.String({ description: 'The served API level, which companion apps compare' }),
    SVC_VERSION: Type.String({ description: 'The release of this server' }),
    SHOW_SETUP_WIZARD: Type.Boolean()
  }),
  METADATA_SOURCES: Type.Object(Object.fromEntries(FIXED_FLAGS.map((flag) => [flag, Type.Boolean()])), {
    additionalProperties: Type.Boolean(), description: 'Further flags belong to the other installed providers'
  }),
  FILESYSTEM: Type.Object({ FS_PLATFORMS: Type.Array(Type.String()) }),
  EMULATION: Type.Object({ DISABLE_EMULATOR_JS: Type.Boolean(), DISABLE_RUFFLE_RS: Type.Boolean() }),
  FRONTEND: Type.Object({
    DISABLE_USERPASS_LOGIN: Type.Boolean(), DISABLE_LOGS_VIEWER: Type.Boolean(), YOUTUBE_BASE_URL: Type.String()
  }),
  OIDC: Type.Object({
    ENABLED: Type.Boolean(), AUTOLOGIN: Type.Boolean(), PROVIDER: Type.String(), RP_INITIATED_LOGOUT: Type.Boolean()
  }),
  DEVICE_INSTALL: Type.Object({ ENABLED: Type.Boolean(), EXCLUDED_PLATFORM_SLUGS: Type.Array(Type.String()) }),
  NOTIFICATIONS: Type.Object({ EMAIL_ENABLED: Type.Boolean(), EMAILS_RESET_LINKS: Type.Boolean() }),
  TASKS: Type.Object({
    ENABLE_SCHEDULED_RESCAN: Type.Boolean(),
    SCHEDULED_RESCAN_CRON: Type.String(),
    ENABLE_SCHEDULED_UPDATE_SWITCH_TITLEDB: Type.Boolean(),
    SCHEDULED_UPDATE_SWITCH_TITLEDB_CRON: Type.String(),
    ENABLE_SCHEDULED_UPDATE_LAUNCHBOX_METADATA: Type.Boolean(),
    SCHEDULED_UPDATE_LAUNCHBOX_METADATA_CRON: Type.String(),
    ENABLE_SCHEDULED_CONVERT_IMAGES_TO_WEBP: Type.Boolean(),
    SCHEDULED_CONVERT_IMAGES_TO_WEBP_CRON: Type.String()
  })
}, { title: 'Heartbeat' })
export type Heartbeat = Static<typeof HeartbeatSchema>

export const ProviderParams = Type.Object({ source: Type.String({ description: "A provider's key, such as `igdb`" }) })

const ProblemSchema = Type.Object({
  kind: StringEnum(['origin_refused', 'upgrade_missing', 'clients_trusted', 'config_unusable']),
  subject: Type.String({ description: 'The origin, the address of the proxy or visitor, or the path of config.yml' }),
  message: Type.String(),
  remedy: Type.String(),
  lines: Type.Array(Type.String(), { description: 'Lines that may be missing in the configuration of a proxy' }),
  seen_at: Type.String({ format: 'date-time' })
}, { title: 'Problem' })
export type Problem = Static<typeof ProblemSchema>

export const LivenessSchema = Type.Object({
  status: Type.Literal('ok'),
  problems: Type.Optional(Type.Array(ProblemSchema, {
    description:
      'For administrators: problems between visitors and this server that requests revealed since its start, and a ' +
      'config.yml that became invalid while the server runs'
  }))
}, { title: 'Liveness' })

const CheckSchema = Type.Object({
  status: StringEnum(['ok', 'failed']),
  reason: Nullable(Type.String({ description: 'The reason of the failure; null if the check passed' }))
}, { title: 'Check' })
export const ReadinessSchema = Type.Object({
  status: StringEnum(['ok', 'failed']),
  checks: Type.Object({ database: CheckSchema, worker: CheckSchema, libraries: CheckSchema })
}, { title: 'Readiness' })
export type Check = Static<typeof CheckSchema>
export type Readiness = Static<typeof ReadinessSchema>

export const ProviderTestSchema = Type.Object({
  answers: Type.Boolean(),
  problem: Nullable(Type.String({ description: 'The reason why the provider does not answer; null if it does' }))
}, { title: 'ProviderTest' })
export type ProviderTest = Static<typeof ProviderTestSchema>
