import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import multipart from '@fastify/multipart'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { LogController, type FastifyBaseLogger, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import auth from './access/plugin.ts'
import { poolerUrlOf, preparesStatements } from './config/database-urls.ts'
import type { Config } from './config/config.ts'
import { basePath } from './config/base-url.ts'
import database, { REQUEST_LIMITS } from './database/database.ts'
import type { Features, ProcessRole } from './feature.ts'
import { type Host, createHostId } from './process/host.ts'
import compression from './web/compression.ts'
import emptyBody from './web/empty-body.ts'
import errorHandler from './web/error-handler.ts'
import { refuseConnection, refuseExpectation, requireHost, sendFrameworkError } from './web/framework-errors.ts'
import jobs from './jobs/jobs.ts'
import { createRequestLogger } from './log/log.ts'
import { createStore } from './store/create-store.ts'
import type { Store } from './store/store.ts'
import jsonDepth from './web/json-depth.ts'
import limits from './web/limits.ts'
import { type InstalledPlugins, findInstalled } from './loader/inspection/installed.ts'
import { openRegistry } from './loader/inspection/known-plugins.ts'
import type { LoaderOptions } from './loader/loader.ts'
import { followSharedPackages } from './loader/packages/follow-shared.ts'
import { corsOptionsFor } from './web/origins.ts'
import type { PluginPackage } from './loader/packages/packages.ts'
import { createPluginServices } from './loader/services.ts'
import refuseClosing from './web/refuse-closing.ts'
import refuseCompressed from './web/refuse-compressed.ts'
import unreadBodies from './web/unread-bodies.ts'
import limitConnections from './web/limit-connections.ts'
import pipelinedRequests from './web/pipelined-requests.ts'
import untypedBody from './web/untyped-body.ts'
import unusedConnections from './web/unused-connections.ts'
import refuseNul from './web/refuse-nul.ts'
import { REQUEST_ID_FIELD, readRequestId, traceRequests } from './log/request-id.ts'
import { type Secrets, createSecrets } from './access/secrets.ts'
import securityHeaders from './web/security-headers.ts'
import sockets from './sockets/plugin.ts'
import { ownerKey } from './sockets/session-owner.ts'
import type { App } from './typebox.ts'
import { buildSerializer, createValidatorCompiler } from './web/validation.ts'
import { VERSION } from './version.ts'
import rest from './jobs/rest.ts'
import upkeep from './jobs/upkeep.ts'
import watchSchema from './jobs/watch-schema.ts'
import { keyDigestOf } from './access/host-key.ts'
import workers, { type Role } from './jobs/workers.ts'

export interface AppOptions {
  config: Config
  role: Role
  databaseUrl: string
  logger: Logger
  features: Features
  /** The number of this web worker, from 1; 0 for any other process. */
  workerNumber?: number
  /** The id of the host to which this process belongs; by default it is a host of its own. */
  hostId?: string
  /** The role of the process in its server; by default it runs alone. */
  processRole?: ProcessRole
  /** True if a supervisor starts the scan worker that requests wait for; the default depends on `processRole`. */
  awaitsWorker?: boolean
  /** Milliseconds since the scan worker started that this one replaces after a rest; null for any other start. */
  wokenAfterMs?: number | null
  /** Plugin packages to use in place of those on disk. */
  packages?: PluginPackage[]
  /** The plugins at the start of the server; by default those that are installed now. */
  installed?: InstalledPlugins
  /** Timeouts for loading plugins and for keeping them running. */
  loading?: Pick<LoaderOptions, 'startTimeoutMs' | 'timeouts'>
}

declare module 'fastify' {
  interface FastifyInstance {
    secrets: Secrets
    store: Store
    /** Set by the feature that shows pages to browsers. */
    pages: {
      areServed: boolean
      /** Sends the page for an address that no route can have. @returns false if the client wants no page there */
      show?: (request: FastifyRequest, reply: FastifyReply) => boolean
    }
    /** The roots of addresses whose errors have no body, because of their clients. */
    bareErrorRoots: string[]
  }
}

const JSON_MAX_BYTES = 1024 * 1024
const URL_PART_MAX = 4_096
/** Enough for the largest upload at 150 kB/s. Guests have less (core/web/limits.ts). */
const REQUEST_TIMEOUT_MS = 3_600_000

/** Removes the path of the base URL, because routes are declared without it. A proxy may have removed it already. */
function stripPrefix (url: string, prefix: string): string {
  if (prefix === '' || !url.startsWith(prefix)) return url
  const rest = url.slice(prefix.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : url
}

/** Creates the app with its HTTP server, before anything is registered. */
function createApp ({ config, logger }: { config: Config, logger: FastifyBaseLogger }): App {
  const prefix = basePath(config)
  const app: App = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: !['debug', 'trace'].includes(config.server.log_level) }),
    http: {
      shouldUpgradeCallback: (request) => app.sockets.isUpgrade(request),
      // Node's own response to a request without a Host header has no body.
      requireHostHeader: false
    },
    // Replaced by core/web/refuse-closing.ts.
    return503OnClosing: false,
    bodyLimit: JSON_MAX_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    frameworkErrors: sendFrameworkError,
    clientErrorHandler: refuseConnection,
    trustProxy: config.server.trusted_proxies.length > 0 ? [...config.server.trusted_proxies] : false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: URL_PART_MAX },
    // Set for every context, because the first schema that a plugin adds would undo a setting on the root.
    schemaController: {
      compilersFactory: { buildValidator: () => createValidatorCompiler() as never, buildSerializer }
    },
    genReqId: readRequestId,
    childLoggerFactory: (parent, { [REQUEST_ID_FIELD]: id }) => createRequestLogger(parent, String(id)),
    pluginTimeout: 15_000,
    rewriteUrl: ({ url = '/' }) => stripPrefix(url, prefix)
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.server.on('checkExpectation', refuseExpectation)
  return app
}

/** Connects to the database, and makes this process known in it. */
async function connectDatabase (app: App, options: AppOptions, host: Host): Promise<void> {
  const { config, role, databaseUrl: url, features } = options
  const works = role === 'worker'
  const tables = await features.loadTables()
  await app.register(database, {
    url: poolerUrlOf(config) ?? url,
    directUrl: url,
    poolSize: config.database.pool_size,
    prepares: preparesStatements(config),
    ...tables,
    application: `svc ${role}`,
    ...(works ? {} : { limits: REQUEST_LIMITS })
  })
  const isSupervised = options.awaitsWorker ?? options.processRole?.readAllMeasured !== undefined
  const { wokenAfterMs = null } = options
  const keyDigest = keyDigestOf(app.secrets)
  await app.register(workers, { url, role, isSupervised, host, keyDigest, runningMs: wokenAfterMs ?? 0 })
  await app.register(rest, { isWoken: wokenAfterMs !== null })
  await app.register(upkeep, { isHere: isSupervised ? role === 'web' && options.workerNumber === 1 : works })
  await app.register(watchSchema, { migrations: tables.migrations, close: () => { app.workers.retire() } })
}

/** Loads the descriptions of routes and events, which only web workers serve. */
export const loadDocuments = () => Promise.all([import('./web/openapi/openapi.ts'), import('./sockets/asyncapi.ts')])

/** Registers everything in order. The app does not listen yet. */
export async function buildApp (options: AppOptions): Promise<App> {
  const { config, role, databaseUrl: url, features } = options
  const works = role === 'worker'
  const secrets = createSecrets(config.auth.secret_key)
  const app = createApp(options)
  app.decorate('secrets', secrets)
  app.decorate('store', createStore(config))
  app.decorate('pages', { areServed: false }).decorate('bareErrorRoots', [])
  // First, because a request waits here in the asynchronous context of the one before it.
  await app.register(pipelinedRequests)
  traceRequests(app)
  await app.register(errorHandler)
  await app.register(refuseClosing)
  await app.register(unreadBodies)
  await app.register(refuseCompressed)
  await app.register(unusedConnections)
  await app.register(limitConnections)
  await app.register(securityHeaders, {
    contentSecurityPolicy: { directives: { defaultSrc: ["'self'"], frameAncestors: ["'none'"], upgradeInsecureRequests: null } },
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: config.server.base_url.startsWith('https:')
  })
  await app.register(compression)
  await app.register(emptyBody)
  await app.register(untypedBody)
  await app.register(jsonDepth)
  await app.register(limits)
  await app.register(refuseNul)
  await app.register(cookie)
  app.addHook('onRequest', requireHost)
  // Registered before authentication, because a browser's preflight request carries no credentials.
  if (config.server.cors_allowed_origins.length > 0) {
    const delegator = async ({ headers }: FastifyRequest) => corsOptionsFor(headers.origin, config)
    await app.register(cors, { delegator })
  }
  await app.register(multipart, { limits: { parts: 120, files: 20, fields: 100, fieldSize: 64 * 1024 } })
  const host = { id: options.hostId ?? createHostId(), address: config.cluster.internal_address ?? null }
  await connectDatabase(app, options, host)
  await app.register(auth, { config, secrets })
  await app.register(sockets, {
    config, accepts: role === 'web', owner: ownerKey(host.id, options.workerNumber ?? 0)
  })
  await app.register(jobs, { url, runsJobs: works })
  const installed = options.installed ?? findInstalled(config.data_dir, options.packages)
  await app.register(await openRegistry(app, installed, {
    config, runsPlugins: works, createServices: await createPluginServices(app, config),
    serverFields: await features.loadFieldNames(),
    ...options.loading,
    ...(options.packages === undefined ? {} : { packages: options.packages })
  }))
  // One process of each role follows the other hosts.
  if (role !== 'command' && (options.workerNumber ?? 0) <= 1) followSharedPackages(app, config, installed.dependencies)
  // A scan worker and a command serve no requests. Routes would take a tenth of their memory.
  if (role === 'web') {
    const [{ default: openapi }, { default: asyncapi }] = await loadDocuments()
    const introduction = await features.loadIntroduction()
    await app.register(openapi, { config, version: VERSION, tags: features.tags, introduction })
    await app.register(asyncapi, { config, version: VERSION })
  }
  const processRole = options.processRole ?? { name: role }
  for (const plugin of await features.loadPlugins(role)) await app.register(plugin, { config, role, processRole })
  return app
}
