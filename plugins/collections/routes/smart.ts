import formbody from '@fastify/formbody'
import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, IdParams, type Routes } from '../../../core/typebox.ts'
import type { Forms } from '../form.ts'
import { ListCollectionsQuery, SmartCollectionForm, SmartCollectionQuery, SmartCollectionSchema } from '../schemas.ts'
import type { SmartCollections } from '../smart.ts'
import { asBuilt } from './write-view.ts'

const tags = ['collections']
const reads = { scopes: ['collections.read'] as const }
const writes = { scopes: ['collections.write'] as const }
const consumes = ['multipart/form-data', 'application/x-www-form-urlencoded']
const errors = { 403: ErrorSchema, 404: ErrorSchema }
/** Limit for a list, because the members of each of many collections are checked for visibility. */
const LIST_MAX_MS = 60_000

const createSmartRoutes = (collections: SmartCollections, forms: Forms): Routes => async (app) => {
  await app.register(formbody)
  app.addHook('onSend', forms.discard)

  app.post('/api/collections/smart', {
    schema: {
      operationId: 'createSmartCollection',
      tags,
      summary: 'Store a filter as a collection of your own',
      consumes,
      querystring: SmartCollectionQuery,
      body: SmartCollectionForm,
      response: { 200: SmartCollectionSchema, 400: ErrorSchema, 409: ErrorSchema }
    },
    preValidation: forms.read,
    config: writes
  }, async (request) =>
    collections.create(contextOf(request), request.body, request.query.is_public ?? false))

  app.get('/api/collections/smart', {
    schema: {
      operationId: 'listSmartCollections', tags, summary: 'List your smart collections and public ones, by name',
      querystring: ListCollectionsQuery, response: { 200: Type.Array(SmartCollectionSchema) }
    },
    config: { ...reads, databaseMs: LIST_MAX_MS },
    serializerCompiler: asBuilt
  }, async (request) => collections.list(contextOf(request), request.query.updated_after))

  app.get('/api/collections/smart/identifiers', {
    schema: {
      operationId: 'listSmartCollectionIds', tags, summary: 'List the ids of your smart collections and of public ones',
      response: { 200: Type.Array(Type.Integer()) }
    },
    config: reads
  }, async (request) => collections.listIds(contextOf(request)))

  app.get('/api/collections/smart/:id', {
    schema: {
      operationId: 'getSmartCollection', tags, summary: 'Get a smart collection', params: IdParams,
      response: { 200: SmartCollectionSchema, ...errors }
    },
    config: reads,
    serializerCompiler: asBuilt
  }, async (request) => collections.get(contextOf(request), request.params.id))

  app.put('/api/collections/smart/:id', {
    schema: {
      operationId: 'updateSmartCollection',
      tags,
      summary: 'Change a smart collection of your own; absent fields stay',
      consumes,
      params: IdParams,
      querystring: SmartCollectionQuery,
      body: SmartCollectionForm,
      response: { 200: SmartCollectionSchema, ...errors, 400: ErrorSchema, 409: ErrorSchema }
    },
    preValidation: forms.read,
    config: writes
  }, async (request) =>
    collections.update(contextOf(request), request.params.id, request.body, request.query.is_public))

  app.delete('/api/collections/smart/:id', {
    schema: {
      operationId: 'deleteSmartCollection', tags, summary: 'Delete a smart collection of your own', params: IdParams,
      response: { 200: Type.Null(), ...errors }
    },
    config: { ...writes, audit: 'collection.deleted' }
  }, async (request) => {
    await collections.delete(contextOf(request), request.params.id)
    return null
  })
}

export default createSmartRoutes
