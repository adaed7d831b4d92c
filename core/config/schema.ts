import { MEDIA_KINDS } from '@svc/plugin-sdk'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { StringEnum } from '../typebox.ts'

/** A boolean that is off unless set. */
const Switch = (env: string, description: string) => Type.Boolean({ default: false, env, description })
const Names = (description: string, defaults: string[] = []) =>
  Type.Array(Type.String({ minLength: 1 }), { default: defaults, description })
const Section = <P extends Record<string, TSchema>>(properties: P, description?: string) =>
  Type.Object(properties, { default: {}, description })

const ServerSchema = Section({
  host: Type.String({ default: '0.0.0.0', env: 'SVC_HOST', description: 'Address to listen on' }),
  port: Type.Integer({ default: 8080, minimum: 0, maximum: 65535, env: 'SVC_PORT', description: 'Port to listen on' }),
  base_url: Type.String({
    default: 'http://0.0.0.0',
    pattern: '^https?://[^\\s?#]+$',
    env: 'SVC_BASE_URL',
    description: 'The address people use; links are absolute only when it names a real host. Its path is the prefix ' +
      'under which everything is served'
  }),
  workers: Type.Integer({
    default: 4, minimum: 1, maximum: 64, env: 'WEB_SERVER_CONCURRENCY', description: 'Number of web workers'
  }),
  log_level: StringEnum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    { default: 'info', env: 'SVC_LOG_LEVEL', description: 'The least important log lines to print' }),
  trusted_proxies: Type.Array(Type.String(), {
    default: [],
    env: 'SVC_TRUSTED_PROXIES',
    description: 'Addresses or networks whose X-Forwarded-* headers are believed, such as 172.16.0.0/12'
  }),
  cors_allowed_origins: Type.Array(Type.String({ pattern: '^(\\*|[a-z][a-z0-9+.-]*://[^/?#\\s]+)$' }), {
    default: [],
    env: 'SVC_CORS_ALLOWED_ORIGINS',
    description: 'Origins of other sites whose pages may call the API and open sockets, such as https://app.example.org; ' +
      'exact match. * lets in every other site too, without its visitors\' cookies'
  }),
  web_dir: Type.Optional(Type.String({
    minLength: 1, env: 'SVC_WEB_DIR', description: 'Folder of web pages to serve: its files, and index.html for the rest'
  })),
  romm_names: Switch('SVC_ROMM_NAMES',
    'Cookies also go by the names that pages made for RomM read, and new client API tokens begin with rmm_')
}, 'The HTTP server')

const AuthSchema = Section({
  secret_key: Type.Optional(Type.String({
    minLength: 16,
    writeOnly: true,
    env: 'SVC_AUTH_SECRET_KEY',
    description: 'Signs and seals; without it one is made once and kept in secret.key in the data directory'
  })),
  admin_username: Type.Optional(Type.String({
    minLength: 3, maxLength: 255, env: 'SVC_ADMIN_USERNAME', description: 'First administrator, made while there is none'
  })),
  admin_password: Type.Optional(Type.String({
    maxLength: 255,
    writeOnly: true,
    env: 'SVC_ADMIN_PASSWORD',
    description: 'Password of that administrator, 8 characters at least; without effect once there is one'
  })),
  session_max_age_seconds: Type.Integer({
    default: 1209600, minimum: 60, env: 'SESSION_MAX_AGE_SECONDS', description: 'Seconds a login lasts without use'
  }),
  session_absolute_max_age_seconds: Type.Integer({
    default: 7776000,
    minimum: 60,
    env: 'SESSION_ABSOLUTE_MAX_AGE_SECONDS',
    description: 'Seconds after which a login ends however much it is used'
  }),
  oauth_access_token_expire_seconds: Type.Integer({
    default: 1800, minimum: 1, env: 'OAUTH_ACCESS_TOKEN_EXPIRE_SECONDS', description: 'Seconds an OAuth2 access token lasts'
  }),
  oauth_refresh_token_expire_seconds: Type.Integer({
    default: 604800, minimum: 1, env: 'OAUTH_REFRESH_TOKEN_EXPIRE_SECONDS', description: 'Seconds an OAuth2 refresh token lasts'
  }),
  invite_token_expiry_seconds: Type.Integer({
    default: 600, minimum: 1, maximum: 31536000, env: 'INVITE_TOKEN_EXPIRY_SECONDS', description: 'Seconds an invite is good for'
  }),
  kiosk_mode: Switch('KIOSK_MODE', 'Lets anyone read without signing in what the default permission group may read'),
  secure_cookie: Switch('SVC_SESSION_SECURE_COOKIE', 'Marks cookies Secure even when the request did not come over TLS'),
  disable_csrf_protection: Switch('DISABLE_CSRF_PROTECTION', 'Switches the CSRF check off'),
  disable_userpass_login: Switch('DISABLE_USERPASS_LOGIN', 'Tells login pages not to offer a password form'),
  disable_setup_wizard: Switch('DISABLE_SETUP_WIZARD', 'Tells clients not to offer the setup wizard'),
  disable_download_endpoint_auth: Switch('DISABLE_DOWNLOAD_ENDPOINT_AUTH',
    'Serves ROM details and downloads without credentials'),
  audit_log_retention_days: Type.Integer({
    default: 90, minimum: 0, env: 'AUDIT_LOG_RETENTION_DAYS', description: 'Days security events are kept; 0 means for ever'
  }),
  token_prefixes: Type.Array(Type.String({ pattern: '^[a-z0-9]+_$' }), {
    default: [], env: 'SVC_TOKEN_PREFIXES', description: 'Further prefixes of client API tokens, such as rmm_'
  })
}, 'Sign-in')

const MailSchema = Section({
  host: Type.Optional(Type.String({
    minLength: 1, env: 'SMTP_HOST', description: 'Server that takes outgoing mail; without it nothing is mailed'
  })),
  port: Type.Integer({ default: 587, minimum: 1, maximum: 65535, env: 'SMTP_PORT', description: 'Its port' }),
  security: StringEnum(['starttls', 'tls', 'none'], {
    default: 'starttls',
    env: 'SMTP_SECURITY',
    description: 'starttls is usual on port 587, tls on port 465; none sends passwords and mail readable'
  }),
  username: Type.Optional(Type.String({ env: 'SMTP_USERNAME', description: 'Account at that server, when it asks for one' })),
  password: Type.Optional(Type.String({
    writeOnly: true, env: 'SMTP_PASSWORD', description: 'Password of that account'
  })),
  from: Type.Optional(Type.String({
    minLength: 3, env: 'SMTP_FROM', description: 'Sender of the mail, such as svc@example.org; without it the account'
  }))
}, 'Outgoing mail')

const HTTP_URL = '^https?://\\S+$'
const OidcSchema = Section({
  enabled: Switch('OIDC_ENABLED', 'Lets people sign in with OpenID Connect'),
  provider: Type.String({ default: '', env: 'OIDC_PROVIDER', description: 'Name of the provider for login pages' }),
  client_id: Type.Optional(Type.String({
    minLength: 1, env: 'OIDC_CLIENT_ID', description: 'What the provider calls this server'
  })),
  client_secret: Type.Optional(Type.String({
    minLength: 1, writeOnly: true, env: 'OIDC_CLIENT_SECRET', description: 'Its secret there; none for a public client'
  })),
  redirect_uri: Type.Optional(Type.String({
    pattern: '^https?://[^\\s?#]+$',
    env: 'OIDC_REDIRECT_URI',
    description: 'Where the provider sends people back; without it /api/oauth/openid under the base URL'
  })),
  server_application_url: Type.Optional(Type.String({
    pattern: HTTP_URL,
    env: 'OIDC_SERVER_APPLICATION_URL',
    description: "The provider's address (issuer), under which it serves .well-known/openid-configuration"
  })),
  server_metadata_url: Type.Optional(Type.String({
    pattern: HTTP_URL, env: 'OIDC_SERVER_METADATA_URL', description: 'Whole address of that document, where it is another'
  })),
  end_session_endpoint: Type.Optional(Type.String({
    pattern: HTTP_URL, env: 'OIDC_END_SESSION_ENDPOINT', description: 'Where sessions end; without it as the provider says'
  })),
  tls_cacertfile: Type.Optional(Type.String({
    minLength: 1, env: 'OIDC_TLS_CACERTFILE', description: "PEM file of a CA that the provider's certificate may be from"
  })),
  autologin: Switch('OIDC_AUTOLOGIN', 'Tells login pages to go to the provider at once'),
  rp_initiated_logout: Switch('OIDC_RP_INITIATED_LOGOUT', 'Offers to end the session at the provider when signing out'),
  allow_registration: Type.Boolean({
    default: true, env: 'OIDC_ALLOW_REGISTRATION', description: 'Makes an account for people who have none'
  }),
  username_attribute: Type.String({
    default: 'preferred_username', minLength: 1, env: 'OIDC_USERNAME_ATTRIBUTE', description: 'Claim that names new accounts'
  }),
  claim_roles: Type.Optional(Type.String({
    minLength: 1, env: 'OIDC_CLAIM_ROLES', description: 'Claim that holds roles, such as groups or realm_access.roles'
  })),
  role_admin: Type.Optional(Type.String({
    minLength: 1, env: 'OIDC_ROLE_ADMIN', description: 'Role there that makes an administrator'
  })),
  role_editor: Type.Optional(Type.String({
    minLength: 1, env: 'OIDC_ROLE_EDITOR', description: 'Role there that makes a user, new ones in the group Editors; * for any'
  })),
  role_viewer: Type.Optional(Type.String({
    minLength: 1, env: 'OIDC_ROLE_VIEWER', description: 'Role there that makes a user; * for any'
  }))
}, 'Sign-in with OpenID Connect')

const ExcludeSchema = Section({
  platforms: Names('Platform folders left out, names or patterns (*, ?, [...])'),
  roms: Section({
    single_file: Section({
      extensions: Names('Extensions of files that are not ROMs'),
      names: Names('Names or patterns of files that are not ROMs')
    }),
    multi_file: Section({
      names: Names('Names or patterns of folders that are not ROMs'),
      parts: Section({
        extensions: Names('Extensions left out inside ROM folders'),
        names: Names('Names or patterns left out inside ROM folders')
      })
    })
  })
}, 'What the scan leaves out')

const FilesystemSchema = Section({
  roms_folder: Type.String({ default: 'roms', pattern: '^[^/\\\\]+$', description: 'Name of the folder that holds ROMs' }),
  firmware_folder: Type.String({
    default: 'bios', pattern: '^[^/\\\\]+$', description: 'Name of the folder that holds firmware'
  }),
  skip_hash_calculation: Type.Boolean({ default: false, description: 'Reads no file contents; hash lookups find nothing' }),
  structure: Section({
    default: Type.Optional(StringEnum(['roms/{platform}/{game}', '{platform}/roms/{game}'],
      { description: 'Folder structure; without it it is detected' })),
    firmware: Type.Optional(StringEnum(['bios/{platform}', '{platform}/bios'],
      { description: 'Where firmware lies; without it as the structure says' }))
  })
}, 'How the library is laid out')

const METADATA_PRIORITY = ['igdb', 'moby', 'ss', 'ra', 'launchbox', 'gamelist', 'hasheous', 'tgdb', 'flashpoint', 'hltb']
const ARTWORK_PRIORITY = ['sgdb', 'igdb', 'moby', 'ss', 'libretro', 'ra', 'launchbox', 'gamelist', 'hasheous', 'tgdb',
  'flashpoint', 'hltb']

const ScanSchema = Type.Object({
  priority: Section({
    metadata: Names('Sources of text, most trusted first; others follow', METADATA_PRIORITY),
    artwork: Names('Sources of artwork, most trusted first; others follow', ARTWORK_PRIORITY),
    cover: Type.Optional(Names('Overrides artwork for covers')),
    screenshot: Type.Optional(Names('Overrides artwork for screenshots')),
    manual: Type.Optional(Names('Overrides artwork for manuals')),
    region: Names('Region codes, most wanted first', ['us', 'wor', 'ss', 'eu', 'jp']),
    region_mode: StringEnum(['prefer_rom_tags', 'prefer_config'],
      { default: 'prefer_rom_tags', description: "Whether a ROM's own regions go before the list" }),
    language: Names('Language codes, most wanted first', ['en'])
  }),
  media: Type.Array(StringEnum(MEDIA_KINDS), {
    default: ['box2d', 'screenshot', 'manual'], description: 'Media kept besides the cover'
  }),
  workers: Type.Integer({
    default: 256,
    minimum: 1,
    maximum: 4096,
    env: 'SCAN_WORKERS',
    description: 'ROMs under way at the sources at once: how far the others run ahead of a slow or paused one'
  }),
  hash_threads: Type.Integer({
    default: 0, minimum: 0, maximum: 64, env: 'SVC_HASH_THREADS', description: 'Threads that hash; 0 means one per core'
  }),
  timeout_seconds: Type.Integer({
    default: 14400, minimum: 1, env: 'SCAN_TIMEOUT', description: 'Seconds a scan may take'
  }),
  archive_timeout_seconds: Type.Integer({
    default: 60, minimum: 1, env: 'SEVEN_ZIP_TIMEOUT', description: 'Seconds one archive may take'
  })
}, { default: {}, additionalProperties: Type.Object({}), description: 'Scans; a section per exporter with its `export` switch' })

const TasksSchema = Section({
  timeout_seconds: Type.Integer({ default: 300, minimum: 1, env: 'TASK_TIMEOUT', description: 'Seconds a task may take' }),
  result_ttl_seconds: Type.Integer({
    default: 86400, minimum: 1, env: 'TASK_RESULT_TTL', description: 'Seconds a finished task stays listed'
  }),
  scheduled_rescan: Switch('ENABLE_SCHEDULED_RESCAN', 'Scans the library on a schedule'),
  scheduled_rescan_cron: Type.String({
    default: '0 3 * * *', pattern: '^\\S+( \\S+){4}$', env: 'SCHEDULED_RESCAN_CRON', description: 'When, in UTC'
  }),
  rescan_on_filesystem_change: Switch('ENABLE_RESCAN_ON_FILESYSTEM_CHANGE',
    'Watches the library and scans the platforms in which files appear or vanish'),
  rescan_on_filesystem_change_delay: Type.Number({
    default: 5,
    minimum: 0.005,
    maximum: 1440,
    env: 'RESCAN_ON_FILESYSTEM_CHANGE_DELAY',
    description: 'Minutes without a further change before that scan; fractions are allowed'
  }),
  cleanup_orphaned_resources: Switch('ENABLE_SCHEDULED_CLEANUP_ORPHANED_RESOURCES',
    'Deletes artwork of ROMs that are gone on a schedule'),
  cleanup_orphaned_resources_cron: Type.String({
    default: '0 5 * * *',
    pattern: '^\\S+( \\S+){4}$',
    env: 'SCHEDULED_CLEANUP_ORPHANED_RESOURCES_CRON',
    description: 'When, in UTC'
  }),
  cleanup_sync_sessions: Type.Boolean({
    default: true,
    env: 'ENABLE_SCHEDULED_CLEANUP_SYNC_SESSIONS',
    description: 'Gives up sync sessions that were not completed within a day on a schedule'
  }),
  cleanup_sync_sessions_cron: Type.String({
    default: '23 * * * *',
    pattern: '^\\S+( \\S+){4}$',
    env: 'SCHEDULED_CLEANUP_SYNC_SESSIONS_CRON',
    description: 'When, in UTC'
  })
}, 'Background tasks')

const AssetsSchema = Section({
  max_upload_bytes: Type.Integer({
    default: 536870912, minimum: 0, env: 'MAX_ASSET_UPLOAD_SIZE_BYTES', description: 'Bytes one upload may have; 0 means any'
  }),
  max_autocleanup_limit: Type.Integer({
    default: 100, minimum: 1, env: 'MAX_AUTOCLEANUP_LIMIT', description: 'The most saves of a slot that a client may ask to keep'
  }),
  versions_kept: Type.Integer({
    default: 10,
    minimum: 0,
    env: 'ASSET_VERSIONS_KEPT',
    description: 'The newest former contents of each save, state and slot, which are all kept; older ones are thinned out to ' +
      'one an hour, a day and a week, but none of the last day below the quota'
  }),
  versions_kept_days: Type.Integer({
    default: 90, minimum: 1, env: 'ASSET_VERSIONS_KEPT_DAYS', description: 'Days former contents and deleted files are kept'
  }),
  quota_bytes: Type.Integer({
    default: 53687091200,
    minimum: 0,
    env: 'ASSET_QUOTA_BYTES',
    description: 'Bytes the files of one user may take, former contents included; 0 means any'
  })
}, 'Saves, states and screenshots')

const ResourcesSchema = Section({
  public: Switch('SVC_RESOURCES_PUBLIC', 'Serves artwork and manuals to anyone who knows or guesses their number; for apps ' +
    'that show neither a credential nor the addresses they were given')
}, 'Artwork and manuals')

const SocketsSchema = Section({
  guests: StringEnum(['all', 'totals'], {
    default: 'all',
    env: 'SVC_SOCKETS_GUESTS',
    description: 'What sockets without a session hear of scans: everything that nobody is kept from seeing, or totals only'
  })
}, 'Live events')

const DevicesSchema = Section({
  install_enabled: Type.Boolean({
    default: true,
    env: 'DEVICE_INSTALL_ENABLED',
    description: 'Lets people send games to their devices, and devices be connected for it'
  }),
  install_request_ttl_days: Type.Number({
    default: 2,
    minimum: 0,
    maximum: 36500,
    env: 'DEVICE_INSTALL_REQUEST_TTL_DAYS',
    description: 'Days after which a request that nothing happens to is forgotten; 0 means never'
  }),
  install_excluded_platforms: Type.Array(Type.String({ minLength: 1 }), {
    default: ['win', 'win3x', 'win9x', 'windows-apps'],
    env: 'DEVICE_INSTALL_EXCLUDED_PLATFORM_SLUGS',
    description: 'Slugs of platforms whose games are not sent to devices'
  })
}, 'Devices')

/** Every setting of the server: the file `config.yml` has this shape, and `env` names the variable of a setting. */
export const ConfigSchema = Type.Object({
  data_dir: Type.String({ default: './data', env: 'SVC_DATA_DIR', description: 'Everything the server keeps' }),
  library_dir: Type.Optional(Type.String({
    env: 'SVC_LIBRARY_DIR', description: 'The library; without it `library` in the data directory'
  })),
  server: ServerSchema,
  database: Section({
    url: Type.Optional(Type.String({
      pattern: '^postgres(ql)?://',
      writeOnly: true,
      env: 'SVC_DATABASE_URL',
      description: 'PostgreSQL 15 or later to use in place of the embedded one'
    })),
    pool_size: Type.Integer({
      default: 5, minimum: 1, maximum: 100, env: 'SVC_DATABASE_POOL_SIZE', description: 'Connections per process'
    })
  }, 'The database'),
  auth: AuthSchema,
  oidc: OidcSchema,
  mail: MailSchema,
  exclude: ExcludeSchema,
  system: Section({
    platforms: Type.Record(Type.String(), Type.String({ minLength: 1 }), {
      default: {}, description: 'Folder → platform it is read as'
    }),
    versions: Type.Record(Type.String(), Type.String({ minLength: 1 }), {
      default: {}, description: 'Folder → platform it is a version of'
    })
  }, 'Platform bindings'),
  filesystem: FilesystemSchema,
  scan: ScanSchema,
  assets: AssetsSchema,
  resources: ResourcesSchema,
  sockets: SocketsSchema,
  devices: DevicesSchema,
  tasks: TasksSchema,
  plugins: Type.Record(Type.String(), Type.Object({}, { additionalProperties: true }), {
    default: {}, description: 'Settings of each plugin under its key'
  })
})

type Loaded = Static<typeof ConfigSchema>
/** The effective configuration. Paths are absolute; the secret key is always there. */
export type Config = Omit<Loaded, 'library_dir' | 'auth'> & {
  library_dir: string
  auth: Loaded['auth'] & { secret_key: string }
}
