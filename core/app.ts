import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import multipart from '@fastify/multipart'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { LogController, type FastifyBaseLogger, type FastifyPluginCallback, type FastifyRequest } from 'fastify'
import type pg from 'pg'
import type { Logger } from 'pino'
import auth from './access/auth.ts'
import asyncapi from './sockets/asyncapi.ts'
import { type Config, basePath } from './config/config.ts'
import database, { type Entities, type Migrations, REQUEST_LIMITS } from './database/database.ts'
import compression from './web/compression.ts'
import emptyBody from './web/empty-body.ts'
import errorHandler from './web/error-handler.ts'
import { refuseConnection, refuseExpectation, requireHost, sendFrameworkError } from './web/framework-errors.ts'
import jobs from './jobs/jobs.ts'
import { createRequestLogger } from './log.ts'
import jsonDepth from './web/json-depth.ts'
import limits from './web/limits.ts'
import type { ServerMeasured } from './metrics/metric-snapshot.ts'
import { openRegistry } from './loader/known-plugins.ts'
import type { LoaderOptions } from './loader/loader.ts'
import openapi, { type Tag } from './web/openapi.ts'
import { corsOptionsFor } from './web/origins.ts'
import type { PluginPackage } from './loader/packages.ts'
import { createPluginServices } from './loader/services.ts'
import refuseNul from './web/refuse-nul.ts'
import { REQUEST_ID_FIELD, readRequestId, traceRequests } from './request-id.ts'
import { type Secrets, createSecrets } from './access/secrets.ts'
import securityHeaders from './web/security-headers.ts'
import sockets from './sockets/sockets.ts'
import type { App } from './typebox.ts'
import { buildSerializer, createValidatorCompiler } from './web/validation.ts'
import { VERSION } from './version.ts'
import workers, { type Role } from './jobs/workers.ts'

export interface AppOptions {
  config: Config
  role: Role
  databaseUrl: string
  logger: Logger
  features: Features
  /** Which of the web workers this is, from 1; 0 for any other process. */
  workerNumber?: number
  /** By default it runs by itself. */
  place?: ProcessRole
  /** Whether a supervisor starts the scan worker that requests wait for; default as `place` says. */
  awaitsWorker?: boolean
  /** In place of those found on disk. */
  packages?: PluginPackage[]
  /** How patiently plugins are loaded, and kept running. */
  loading?: Pick<LoaderOptions, 'startTimeoutMs' | 'patience'>
}

declare module 'fastify' {
  interface FastifyInstance { secrets: Secrets }
}

/** What the server is made of. */
export interface Features {
  entities: Entities
  /** The tables of them all, as they came to be. */
  migrations: Migrations
  plugins: FastifyPluginCallback<FeatureOptions>[]
  /** What the operations of them all are grouped by, in the order in which the API document shows them. */
  tags: readonly Tag[]
  /** Markdown with which the API document begins. */
  introduction: string
  /** Before the first start on a database: each throws StartError when the data directory does not fit. */
  checks: readonly ((config: Config, pool: pg.Pool) => Promise<void>)[]
  /** Before the schema of a database that holds something is changed; what it throws leaves it as it is. */
  beforeUpgrade (upgrade: Upgrade): Promise<void>
}

/** A process among those of one server. */
export interface ProcessRole {
  /** Such as `web worker 2`. */
  name: string
  /** What all processes measured; undefined for one that runs by itself. */
  readAllMeasured?: () => Promise<ServerMeasured>
}

/** A database whose schema is about to be changed. */
export interface Upgrade { config: Config, databaseUrl: string, log: Logger }

/** What every feature is handed. */
export interface FeatureOptions { config: Config, role: Role, place: ProcessRole }

const JSON_MAX_BYTES = 1024 * 1024
const URL_PART_MAX = 4_096
/** The largest upload at 150 kB/s. Those who are not signed in have less (core/web/limits.ts). */
const REQUEST_TIMEOUT_MS = 3_600_000

/** Routes are written without the path of the base URL; a proxy may have cut it already. */
function stripPrefix (url: string, prefix: string): string {
  if (prefix === '' || !url.startsWith(prefix)) return url
  const rest = url.slice(prefix.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : url
}

/** Nobody sends requests to a process that only works: what would answer them is a tenth of what it keeps in memory. */
function leaveOutRoutes (app: App): void {
  const leaveOut = () => app
  for (const method of ['route', ...app.supportedMethods.map((name) => name.toLowerCase())]) Object.assign(app, { [method]: leaveOut })
}

/** Registers everything in order. Nothing listens yet. */
export async function buildApp (options: AppOptions): Promise<App> {
  const { config, role, databaseUrl: url } = options
  const works = role === 'worker'
  const prefix = basePath(config)
  const secrets = createSecrets(config.auth.secret_key)
  const logger: FastifyBaseLogger = options.logger
  const app: App = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: !['debug', 'trace'].includes(config.server.log_level) }),
    http: {
      shouldUpgradeCallback: (request) => app.sockets.isUpgrade(request),
      // Node's own answer to who names no host has no body.
      requireHostHeader: false
    },
    bodyLimit: JSON_MAX_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    frameworkErrors: sendFrameworkError,
    clientErrorHandler: refuseConnection,
    trustProxy: config.server.trusted_proxies.length > 0 ? [...config.server.trusted_proxies] : false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: URL_PART_MAX },
    // For every context: setting it on the root would be undone by the first schema a plugin adds.
    schemaController: {
      compilersFactory: { buildValidator: () => createValidatorCompiler() as never, buildSerializer }
    },
    genReqId: readRequestId,
    childLoggerFactory: (parent, { [REQUEST_ID_FIELD]: id }) => createRequestLogger(parent, String(id)),
    pluginTimeout: 15_000,
    rewriteUrl: ({ url = '/' }) => stripPrefix(url, prefix)
  }).withTypeProvider<TypeBoxTypeProvider>()

  if (works) leaveOutRoutes(app)
  app.server.on('checkExpectation', refuseExpectation)
  app.decorate('secrets', secrets)
  traceRequests(app)
  await app.register(errorHandler)
  await app.register(securityHeaders, {
    contentSecurityPolicy: { directives: { defaultSrc: ["'self'"], frameAncestors: ["'none'"], upgradeInsecureRequests: null } },
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: config.server.base_url.startsWith('https:')
  })
  await app.register(compression)
  await app.register(emptyBody)
  await app.register(jsonDepth)
  await app.register(limits)
  await app.register(refuseNul)
  await app.register(cookie)
  app.addHook('onRequest', requireHost)
  // Before anything asks who is calling: a browser's preflight carries no credentials.
  if (config.server.cors_allowed_origins.length > 0) {
    const delegator = async ({ headers }: FastifyRequest) => corsOptionsFor(headers.origin, config)
    await app.register(cors, { delegator })
  }
  await app.register(multipart, { limits: { parts: 120, files: 20, fields: 100, fieldSize: 64 * 1024 } })
  await app.register(database, {
    url,
    poolSize: config.database.pool_size,
    prepares: config.database.prepared_statements,
    entities: options.features.entities,
    migrations: options.features.migrations,
    application: works ? 'svc worker' : 'svc web',
    ...(works ? {} : { limits: REQUEST_LIMITS })
  })
  const isSupervised = options.awaitsWorker ?? options.place?.readAllMeasured !== undefined
  await app.register(workers, { url, role, isSupervised })
  await app.register(auth, { config, secrets })
  await app.register(sockets, { config, accepts: role === 'web', workerNumber: options.workerNumber ?? 0 })
  await app.register(jobs, { url, works })
  await app.register(await openRegistry(app, {
    config, works, createServices: await createPluginServices(app, config),
    ...options.loading,
    ...(options.packages === undefined ? {} : { packages: options.packages })
  }))
  const { tags, introduction } = options.features
  await app.register(openapi, { config, version: VERSION, tags, introduction })
  await app.register(asyncapi, { config, version: VERSION })
  const place = options.place ?? { name: role }
  for (const feature of options.features.plugins) await app.register(feature, { config, role, place })
  return app
}
