import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { StringEnum } from '../typebox.ts'
import { FilesystemSchema, LibrariesSchema } from './libraries.ts'
import { ScanSchema } from './scan.ts'
import type { ConfigSection } from './section.ts'
import { Formatted, Section, Switch } from './setting.ts'

const ServerSchema = Section({
  host: Type.String({ default: '0.0.0.0', env: 'SVC_HOST', description: 'Address to listen on' }),
  port: Type.Integer({ default: 8080, minimum: 0, maximum: 65535, env: 'SVC_PORT', description: 'Port to listen on' }),
  base_url: Formatted('http-base', {
    default: 'http://0.0.0.0',
    env: 'SVC_BASE_URL',
    description: 'The address that people use; links are absolute only if it has a real host. Its path is the prefix ' +
      'under which everything is served'
  }),
  workers: Type.Integer({
    default: 4, minimum: 1, maximum: 64, env: 'WEB_SERVER_CONCURRENCY', description: 'Maximum number of web workers. Two run from the start, more if all are busy and a processor is idle'
  }),
  drain_seconds: Type.Integer({
    default: 30,
    minimum: 5,
    maximum: 3600,
    env: 'SVC_DRAIN_SECONDS',
    description: 'Seconds for running uploads to finish when the server stops; the service manager must wait longer'
  }),
  worker_rest_minutes: Type.Number({
    default: 5,
    minimum: 0,
    maximum: 1440,
    env: 'SVC_WORKER_REST_MINUTES',
    description: 'Idle minutes after which the scan worker ends until there is work; 0 keeps it running. It never rests ' +
      'with an external database, nor while it watches folders'
  }),
  log_level: StringEnum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    { default: 'info', env: 'SVC_LOG_LEVEL', description: 'The least important log lines to print' }),
  trusted_proxies: Type.Array(Formatted('network'), {
    default: [],
    env: 'SVC_TRUSTED_PROXIES',
    description: 'Addresses of proxies whose X-Forwarded-* headers are trusted, such as 172.30.80.2; or networks from which ' +
      'no visitor comes'
  }),
  cors_allowed_origins: Type.Array(Formatted('origin'), {
    default: [],
    env: 'SVC_CORS_ALLOWED_ORIGINS',
    description: 'Origins of other sites whose pages may call the API and open sockets, such as https://app.example.org; ' +
      'exact match. * lets in every other site too, without its visitors\' cookies'
  }),
  web_dir: Type.Optional(Type.String({
    minLength: 1, env: 'SVC_WEB_DIR', description: 'Folder of web pages to serve: its files, and index.html for the rest'
  })),
  web_connect_origins: Type.Array(Formatted('connect-origin'), {
    default: [],
    env: 'SVC_WEB_CONNECT_ORIGINS',
    description: 'Other sites that the pages in web_dir may request, such as https://api.github.com'
  }),
  romm_names: Switch('SVC_ROMM_NAMES',
    'Cookies also go by the names that pages made for RomM read, new client API tokens begin with rmm_, and the page ' +
    'that approves devices is that of web_dir')
}, 'The HTTP server')

const AuthSchema = Section({
  secret_key: Type.Optional(Type.String({
    minLength: 16,
    writeOnly: true,
    env: 'SVC_AUTH_SECRET_KEY',
    description: 'Key for signatures and encryption; without it one is created once and stored in secret.key in the data directory'
  })),
  admin_username: Type.Optional(Type.String({
    minLength: 3, maxLength: 255, env: 'SVC_ADMIN_USERNAME', description: 'Username of the first administrator, created while there is no administrator'
  })),
  admin_password: Type.Optional(Type.String({
    maxLength: 255,
    writeOnly: true,
    env: 'SVC_ADMIN_PASSWORD',
    description: 'Password of that administrator, at least 8 characters; without effect once there is an administrator'
  })),
  session_max_age_seconds: Type.Integer({
    default: 1209600, minimum: 60, env: 'SESSION_MAX_AGE_SECONDS', description: 'Seconds a login lasts without use'
  }),
  session_absolute_max_age_seconds: Type.Integer({
    default: 7776000,
    minimum: 60,
    env: 'SESSION_ABSOLUTE_MAX_AGE_SECONDS',
    description: 'Seconds after which a login ends, even if it is used'
  }),
  oauth_access_token_expire_seconds: Type.Integer({
    default: 1800, minimum: 1, env: 'OAUTH_ACCESS_TOKEN_EXPIRE_SECONDS', description: 'Seconds an OAuth2 access token lasts'
  }),
  oauth_refresh_token_expire_seconds: Type.Integer({
    default: 604800, minimum: 1, env: 'OAUTH_REFRESH_TOKEN_EXPIRE_SECONDS', description: 'Seconds an OAuth2 refresh token lasts'
  }),
  invite_token_expiry_seconds: Type.Integer({
    default: 600, minimum: 1, maximum: 31536000, env: 'INVITE_TOKEN_EXPIRY_SECONDS', description: 'Seconds an invite is valid'
  }),
  kiosk_mode: Switch('KIOSK_MODE', 'Lets guests read everything that the default permission group may read'),
  secure_cookie: Switch('SVC_SESSION_SECURE_COOKIE', 'Marks cookies Secure even when the request did not come over TLS'),
  disable_csrf_protection: Switch('DISABLE_CSRF_PROTECTION', 'Switches the CSRF check off'),
  disable_userpass_login: Switch('DISABLE_USERPASS_LOGIN', 'Tells login pages not to offer a password form'),
  disable_setup_wizard: Switch('DISABLE_SETUP_WIZARD', 'Tells clients not to offer the setup wizard'),
  disable_download_endpoint_auth: Switch('DISABLE_DOWNLOAD_ENDPOINT_AUTH',
    'Serves ROM details and downloads without credentials'),
  audit_log_retention_days: Type.Integer({
    default: 90, minimum: 0, env: 'AUDIT_LOG_RETENTION_DAYS', description: 'Days security events are stored; 0 means for ever'
  }),
  token_prefixes: Type.Array(Formatted('token-prefix'), {
    default: [], env: 'SVC_TOKEN_PREFIXES', description: 'Further prefixes of client API tokens, such as rmm_'
  })
}, 'Sign-in')

const StoreSchema = Section({
  url: Type.Optional(Formatted('store-url', {
    env: 'SVC_STORE_URL',
    description: 'A bucket of S3 or of a compatible server for uploads and artwork, which all hosts share, such as s3://bucket/prefix; without it ' +
      'they are files in the data directory. ?endpoint= names another server than that of AWS, &region= the region'
  })),
  access_key_id: Type.Optional(Type.String({ minLength: 1, env: 'AWS_ACCESS_KEY_ID', description: 'Name of the access key of the bucket' })),
  secret_access_key: Type.Optional(Type.String({
    minLength: 1, writeOnly: true, env: 'AWS_SECRET_ACCESS_KEY', description: 'Secret of the access key of the bucket'
  })),
  session_token: Type.Optional(Type.String({
    minLength: 1, writeOnly: true, env: 'AWS_SESSION_TOKEN', description: 'Token of a temporary access key of the bucket'
  }))
}, 'The store of uploads')

const SocketsSchema = Section({
  guests: StringEnum(['all', 'totals'], {
    default: 'totals',
    env: 'SVC_SOCKETS_GUESTS',
    description: 'Scan events for sockets without a session: all events about ROMs that are hidden from nobody, or only totals'
  })
}, 'Live events')

const MetricsSchema = Section({
  enabled: Switch('SVC_METRICS', 'Measures the server, and serves the metrics at /metrics in the format of Prometheus'),
  allow: Type.Array(Formatted('network'), {
    default: [],
    env: 'SVC_METRICS_ALLOW',
    description:
      'Addresses and networks such as 192.168.1.20 or 172.30.80.0/24 that need no token for /metrics. A request ' +
      'through a trusted proxy counts by the address that the proxy names. A request through another proxy ' +
      'never counts'
  })
}, 'Metrics')

/**
 * The sections that core reads itself. The file `config.yml` has this shape, and `env` names the variable of a setting.
 */
const CORE_SECTIONS = {
  data_dir: Type.String({ default: './data', env: 'SVC_DATA_DIR', description: 'Folder of all data of the server' }),
  library_dir: Type.Optional(Type.String({
    env: 'SVC_LIBRARY_DIR',
    description: 'The library; without it `library` in the data directory. Several are listed under `libraries`'
  })),
  server: ServerSchema,
  database: Section({
    url: Type.Optional(Formatted('database-url', {
      writeOnly: true,
      env: 'SVC_DATABASE_URL',
      description: 'PostgreSQL 15 or later to use instead of the embedded one'
    })),
    pool_size: Type.Integer({
      default: 8, minimum: 1, maximum: 150, env: 'SVC_DATABASE_POOL_SIZE', description: 'Connections per process'
    }),
    direct_url: Type.Optional(Formatted('database-url', {
      writeOnly: true,
      env: 'SVC_DATABASE_DIRECT_URL',
      description: 'The address of PostgreSQL itself if SVC_DATABASE_URL is a pooler in transaction mode, such as PgBouncer. ' +
        'Events, locks, the queue, migrations and backups use it'
    })),
    prepared_statements: Type.Optional(Type.Boolean({
      env: 'SVC_DATABASE_PREPARED_STATEMENTS',
      description: 'Lets the database cache the plans of frequent statements. By default on, and off with SVC_DATABASE_DIRECT_URL, ' +
        'because not every pooler tracks prepared statements'
    }))
  }, 'The database'),
  cluster: Section({
    internal_address: Type.Optional(Formatted('host-port', {
      env: 'SVC_INTERNAL_ADDRESS',
      description: 'Only with several machines on one database: the address of this one on which the others pass requests of sockets ' +
        'to it, such as 10.0.0.5:8081. Without it nothing listens there'
    }))
  }, 'Several machines on one database'),
  store: StoreSchema,
  auth: AuthSchema,
  sockets: SocketsSchema,
  outgoing: Section({
    gateway: Type.Optional(Formatted('http-base', {
      env: 'SVC_SOURCES_GATEWAY',
      description: 'A server that answers instead of all metadata providers: requests for https://host/path go to ' +
        '<gateway>/host/path. For caches, and for recorded responses'
    }))
  }, 'Requests to metadata providers'),
  filesystem: FilesystemSchema,
  libraries: LibrariesSchema,
  scan: ScanSchema,
  metrics: MetricsSchema,
  plugins: Type.Record(Type.String(), Type.Object({}, { additionalProperties: true }), {
    default: {}, description: 'Settings of each plugin under its key'
  })
}

/** Sections of core whose changes in `config.yml` take effect at run time. */
const LIVE_CORE_SECTIONS = ['filesystem', 'libraries', 'scan'] as const satisfies (keyof typeof CORE_SECTIONS)[]

type CoreSchema = TObject<typeof CORE_SECTIONS>
type Loaded = Static<CoreSchema>

/** Returns the schema of `config.yml`. Only its sections of core have a type here, because features read their own. */
export function createConfigSchema (sections: readonly ConfigSection[]): CoreSchema {
  const added: Record<string, TSchema> = {}
  for (const { name, schema } of sections) {
    if (name in CORE_SECTIONS || name in added) throw new Error(`Two sections of the configuration have the name '${name}'`)
    added[name] = schema
  }
  const { plugins, ...core } = CORE_SECTIONS
  return Type.Object({ ...core, ...added, plugins })
}

/** Returns the names of the sections whose changes in `config.yml` take effect at run time. */
export const listLive = (sections: readonly ConfigSection[]): string[] =>
  [...LIVE_CORE_SECTIONS, ...sections.filter(({ isLive }) => isLive).map(({ name }) => name)]

/** A setting: its path in config.yml, its schema and the variable that sets it. */
export interface Setting { path: string[], schema: TSchema, env: string | undefined }

/** The file of the settings, and the variables that override it. */
export interface ConfigFile {
  path: string
  /** The content from which the configuration was first read. */
  text: string
  /** The environment variables that set settings, by the path of the setting with dots. */
  fixed: ReadonlyMap<string, string>
  /**
   * Returns the reason if the file cannot be used at present, so that its former content applies; null if it can be
   * used.
   */
  findProblem (): string | null
  /** Returns every setting of core and of the features, in the order of `svc config`. */
  listSettings (): readonly Setting[]
  /** The sections whose changes take effect at run time. */
  live: readonly string[]
  /** Reads another content of the file as a start would, and changes nothing. @throws StartError if it is invalid */
  read (text: string): Config
}

/**
 * The effective configuration. A feature reads its section by the `ConfigSection` that it declared. Paths are absolute;
 * the secret key is always set.
 */
export type Config = Omit<Loaded, 'library_dir' | 'auth'> & {
  /** The first library as it was at the start; `app.library` knows all libraries at present. */
  library_dir: string
  auth: Loaded['auth'] & { secret_key: string }
  file: ConfigFile
}
