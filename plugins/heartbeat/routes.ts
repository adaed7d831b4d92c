import { type Static, Type } from '@sinclair/typebox'
import { isAdministrator } from '../../core/access/auth.ts'
import { basePath } from '../../core/config/base-url.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { ErrorSchema } from '../../core/typebox.ts'
import { VERSION } from '../../core/version.ts'
import { describeConfigProblem, describeProblems } from './problems.ts'
import { HeartbeatSchema, LivenessSchema, ReadinessSchema, ProviderParams, ProviderTestSchema } from './schemas.ts'

const tags = ['heartbeat']

const LIVENESS: Static<typeof LivenessSchema> = { status: 'ok' }

const routes: FeatureRoutes = async (app, { config }) => {
  const { providers, health } = app.heartbeat

  app.get('/', {
    schema: { hide: true }, config: { public: true }
  }, async (_request, reply) => reply.type('text/html; charset=utf-8').send(frontPage(basePath(config))))

  app.get('/api/heartbeat', {
    schema: {
      operationId: 'getHeartbeat',
      tags,
      summary: 'Get the data that a client needs before it signs in',
      response: { 200: HeartbeatSchema }
    },
    config: { public: true }
  }, async (request) => await app.heartbeat.read(request.caller))

  app.get('/api/heartbeat/metadata/:source', {
    schema: {
      operationId: 'getMetadataHeartbeat',
      tags,
      summary: 'Check if a metadata provider answers; the result is cached for half a minute',
      params: ProviderParams,
      response: { 200: Type.Boolean(), 400: ErrorSchema }
    },
    config: { public: true }
  }, async (request) => await providers.isAnswering(request.params.source))

  app.post('/api/heartbeat/metadata/:source', {
    schema: {
      operationId: 'testMetadataProvider',
      tags,
      summary: 'Call a metadata provider now, and tell why it does not answer',
      params: ProviderParams,
      response: { 200: ProviderTestSchema, 404: ErrorSchema, 503: ErrorSchema }
    },
    config: { scopes: ['tasks.run'], admin: true }
  }, async (request) => await providers.test(request.params.source))

  app.get('/api/health', {
    schema: {
      operationId: 'getLiveness', tags, summary: 'Check if this process answers; administrators also see problems', response: { 200: LivenessSchema }
    },
    config: { public: true }
  }, async ({ caller }) => {
    const isAdmin = caller !== null && isAdministrator(caller)
    if (!isAdmin) return LIVENESS
    return {
      ...LIVENESS, problems: [...describeProblems(app.proxyProblems.list(), config), ...describeConfigProblem(config)]
    }
  })

  app.get('/api/health/ready', {
    schema: {
      operationId: 'getReadiness',
      tags,
      summary: 'Check if the server can serve: the database answers',
      description:
        '`worker` shows if a scan worker runs or rests until there is work, and `libraries` if all libraries can be read. ' +
        'They do not affect `status`, because the server still serves everything else.',
      response: { 200: ReadinessSchema, 503: ReadinessSchema }
    },
    config: { public: true }
  }, async (_request, reply) => {
    const readiness = await health.readReadiness()
    return reply.code(readiness.status === 'ok' ? 200 : 503).send(readiness)
  })
}

export default routes

const frontPage = (base: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>svc</title></head>
<body><h1>svc ${VERSION}</h1><p>A self-hosted game library server.</p>
<ul><li><a href="${base}/api/docs">API documentation</a></li><li><a href="${base}/api/redoc">API reference</a></li></ul>
</body></html>
`
