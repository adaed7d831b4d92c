import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Scope } from '../../core/access/scopes.ts'
import { ErrorSchema, type Routes } from '../../core/typebox.ts'
import { createPlatformSchema } from '../platforms/schemas.ts'
import { providersOf } from '../platforms/views.ts'
import { CreatePlatformsSchema, CreatedPlatformsSchema, createSetupLibrarySchema } from './schemas.ts'

/** Clients find the wizard's operations beside what they read before they sign in. */
const tags = ['heartbeat']

const routes: Routes = async (app) => {
  const { setup } = app
  const needs = (scope: Scope) => async (request: FastifyRequest) => { await setup.checkAccess(request.caller, scope) }
  // The platforms' routes keep the named schema to themselves.
  const PlatformSchema = Type.Object(createPlatformSchema(providersOf(app.registry)).properties)

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
}

export default routes
