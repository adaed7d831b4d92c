import { Type } from '@sinclair/typebox'
import { ErrorSchema, type Routes } from '../../core/typebox.ts'
import { createPlatformSchema } from '../platforms/schemas.ts'
import { providersOf } from '../platforms/views.ts'
import { CreatePlatformsSchema, CreatedPlatformsSchema, SetupQuery, createSetupLibrarySchema } from './schemas.ts'

/** The wizard's operations share the tag of the heartbeat, because clients call both before they sign in. */
const tags = ['heartbeat']

const routes: Routes = async (app) => {
  const { setup } = app
  // A copy without the schema's name, because that name belongs to the routes of platforms.
  const PlatformSchema = Type.Object(createPlatformSchema(providersOf(app.registry)).properties)

  app.get('/api/setup/library', {
    schema: {
      operationId: 'getSetupLibrary',
      tags,
      summary: 'Get the library for the setup wizard; needs platforms.read once an administrator exists',
      querystring: SetupQuery,
      response: { 200: createSetupLibrarySchema(PlatformSchema), 403: ErrorSchema, 429: ErrorSchema }
    },
    config: { public: true }
  }, async (request) => {
    await setup.checkAccess(request, 'platforms.read', request.query.setup_code)
    return await setup.readLibrary({ db: request.db, caller: request.caller })
  })

  app.post('/api/setup/platforms', {
    schema: {
      operationId: 'createSetupPlatforms',
      tags,
      summary: 'Create platform folders; needs platforms.write once an administrator exists',
      querystring: SetupQuery,
      body: CreatePlatformsSchema,
      response: { 201: CreatedPlatformsSchema, 400: ErrorSchema, 403: ErrorSchema, 429: ErrorSchema, 500: ErrorSchema }
    },
    config: { public: true }
  }, async (request, reply) => {
    await setup.checkAccess(request, 'platforms.write', request.query.setup_code)
    const failed = await setup.createPlatforms(request.body)
    if (failed.length > 0) {
      return reply.code(500).send({ detail: `These folders could not be created: ${failed.join(', ')}` })
    }
    const count = request.body.length
    return reply.code(201).send({ success: true, created_count: count, message: `Platform folders created: ${count}` })
  })
}

export default routes
