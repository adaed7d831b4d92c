import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { type Config, basePath } from '../../core/config/config.ts'
import type { Scope } from '../../core/access/scopes.ts'
import { ErrorSchema, type Routes } from '../../core/typebox.ts'
import { VERSION } from '../../core/version.ts'
import { createPlatformSchema } from '../platforms/schemas.ts'
import { providersOf } from '../platforms/views.ts'
import {
  CreatePlatformsSchema, CreatedPlatformsSchema, HeartbeatSchema, LivenessSchema, ReadinessSchema, SourceParams,
  createSetupLibrarySchema
} from './schemas.ts'

const tags = ['heartbeat']

const LIVENESS: Static<typeof LivenessSchema> = { status: 'ok' }

const createRoutes = (config: Config): Routes => async (app) => {
  const { setup, sources, health } = app.heartbeat
  const needs = (scope: Scope) => async (request: FastifyRequest) => { await setup.checkAccess(request.caller, scope) }
  // The platforms' routes keep the named schema to themselves.
  const PlatformSchema = Type.Object(createPlatformSchema(providersOf(app.registry)).properties)

  app.get('/', {
    schema: { hide: true }, config: { public: true }
  }, async (_request, reply) => reply.type('text/html; charset=utf-8').send(frontPage(basePath(config))))

  app.get('/api/heartbeat', {
    schema: {
      operationId: 'getHeartbeat',
      tags,
      summary: 'What a client needs to know before it signs in',
      response: { 200: HeartbeatSchema }
    },
    config: { public: true }
  }, async (request) => await app.heartbeat.read(request.em, request.caller))

  app.get('/api/heartbeat/metadata/:source', {
    schema: {
      operationId: 'getMetadataHeartbeat',
      tags,
      summary: 'Whether a metadata source answers; kept for half a minute',
      params: SourceParams,
      response: { 200: Type.Boolean(), 400: ErrorSchema }
    },
    config: { public: true }
  }, async (request) => await sources.isAnswering(request.params.source))

  app.get('/api/setup/library', {
    schema: {
      operationId: 'getSetupLibrary',
      tags,
      summary: 'The library as the first-run wizard shows it; needs platforms.read once an administrator exists',
      response: { 200: createSetupLibrarySchema(PlatformSchema), 403: ErrorSchema }
    },
    config: { public: true },
    onRequest: needs('platforms.read')
  }, async (request) => await setup.readLibrary(request.em, request.caller))

  app.post('/api/setup/platforms', {
    schema: {
      operationId: 'createSetupPlatforms',
      tags,
      summary: 'Create platform folders; needs platforms.write once an administrator exists',
      body: CreatePlatformsSchema,
      response: { 201: CreatedPlatformsSchema, 400: ErrorSchema, 403: ErrorSchema, 500: ErrorSchema }
    },
    config: { public: true },
    onRequest: needs('platforms.write')
  }, async (request, reply) => {
    const failed = await setup.createPlatforms(request.body)
    if (failed.length > 0) {
      return reply.code(500).send({ detail: `These folders could not be created: ${failed.join(', ')}` })
    }
    const count = request.body.length
    return reply.code(201).send({ success: true, created_count: count, message: `Platform folders created: ${count}` })
  })

  app.get('/api/health', {
    schema: {
      operationId: 'getLiveness', tags, summary: 'Whether this process answers', response: { 200: LivenessSchema }
    },
    config: { public: true }
  }, async () => LIVENESS)

  app.get('/api/health/ready', {
    schema: {
      operationId: 'getReadiness',
      tags,
      summary: 'Whether the server can work: the database answers and a scan worker runs',
      response: { 200: ReadinessSchema, 503: ReadinessSchema }
    },
    config: { public: true }
  }, async (_request, reply) => {
    const readiness = await health.readReadiness()
    return reply.code(readiness.status === 'ok' ? 200 : 503).send(readiness)
  })
}

export default createRoutes

const frontPage = (base: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>svc</title></head>
<body><h1>svc ${VERSION}</h1><p>A self-hosted game library server.</p>
<ul><li><a href="${base}/api/docs">API documentation</a></li><li><a href="${base}/api/redoc">API reference</a></li></ul>
</body></html>
`
