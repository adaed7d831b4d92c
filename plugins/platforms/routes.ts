import { Type } from '@sinclair/typebox'
import { contextOf } from '../../core/access/context.ts'
import { IdParams, type Routes } from '../../core/typebox.ts'
import {
  CreatePlatformSchema, ListPlatformsQuery, type PlatformView, UpdatePlatformSchema,
  createPlatformSchema
} from './schemas.ts'
import { providersOf } from './views.ts'

const tags = ['platforms']
const PlatformSchema = Type.Unsafe<PlatformView>({ $ref: 'Platform#' })
const PlatformsSchema = Type.Array(PlatformSchema)
const reads = { scopes: ['platforms.read'] as const }
const writes = { scopes: ['platforms.write'] as const }
/** Several times the duration for 200,000 ROMs on a slow machine. */
const DELETE_MAX_MS = 120_000

const routes: Routes = async (app) => {
  app.addSchema(createPlatformSchema(providersOf(app.registry)))

  app.post('/api/platforms', {
    schema: {
      operationId: 'createPlatform',
      tags,
      summary: 'Create a platform and its folder; either may exist already',
      body: CreatePlatformSchema,
      response: { 201: PlatformSchema }
    },
    config: writes
  }, async (request, reply) => {
    const platform = await app.platforms.create(contextOf(request), request.body.fs_slug)
    return reply.code(201).send(platform)
  })

  app.get('/api/platforms', {
    schema: {
      operationId: 'listPlatforms', tags, summary: 'List all platforms by name', querystring: ListPlatformsQuery,
      response: { 200: PlatformsSchema }
    },
    config: reads
  }, async (request) => app.platforms.list(contextOf(request), request.query.updated_after))

  app.get('/api/platforms/identifiers', {
    schema: {
      operationId: 'listPlatformIds', tags, summary: 'List the ids of all platforms', response: { 200: Type.Array(Type.Integer()) }
    },
    config: reads
  }, async (request) => app.platforms.listIds(contextOf(request)))

  app.get('/api/platforms/supported', {
    schema: {
      operationId: 'listSupportedPlatforms', tags, summary: 'List every supported platform, with id -1 if it is not stored',
      response: { 200: PlatformsSchema }
    },
    config: reads
  }, async (request) => app.platforms.listSupported(contextOf(request)))

  app.get('/api/platforms/filesystem', {
    schema: {
      operationId: 'listPlatformFolders', tags, summary: 'List folders of the library that no scan has read yet',
      response: { 200: PlatformsSchema }
    },
    config: reads
  }, async (request) => app.platforms.listUnscanned(request.db))

  app.get('/api/platforms/:id', {
    schema: { operationId: 'getPlatform', tags, summary: 'Get a platform', params: IdParams, response: { 200: PlatformSchema } },
    config: reads
  }, async (request) => app.platforms.get(contextOf(request), request.params.id))

  app.put('/api/platforms/:id', {
    schema: {
      operationId: 'updatePlatform', tags, summary: 'Change the name or the description of a platform', params: IdParams,
      body: UpdatePlatformSchema, response: { 200: PlatformSchema }
    },
    config: writes
  }, async (request) => app.platforms.update(contextOf(request), request.params.id, request.body))

  app.delete('/api/platforms/:id', {
    schema: {
      operationId: 'deletePlatform', tags, summary: 'Delete a platform and its ROMs from the database; its folder stays',
      params: IdParams, response: { 200: Type.Null() }
    },
    config: { ...writes, grant: ['platforms', 'delete'], audit: 'platform.deleted', databaseMs: DELETE_MAX_MS }
  }, async (request) => {
    await app.platforms.delete(contextOf(request), request.params.id)
    return null
  })
}

export default routes
