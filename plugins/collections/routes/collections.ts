import formbody from '@fastify/formbody'
import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, IdParams, InvalidSchema, type Routes, withFile } from '../../../core/typebox.ts'
import type { Forms } from '../form.ts'
import {
  CollectionSchema, CreateCollectionForm, CreateCollectionQuery, ListCollectionsQuery, RomIdsSchema,
  UpdateCollectionForm, UpdateCollectionQuery
} from '../schemas.ts'
import type { Collections } from '../service.ts'
import { asBuilt } from './write-view.ts'

const tags = ['collections']
const reads = { scopes: ['collections.read'] as const }
const writes = { scopes: ['collections.write'] as const }
const consumes = ['multipart/form-data', 'application/x-www-form-urlencoded']
const errors = { 403: ErrorSchema, 404: ErrorSchema }
const formErrors = { 400: ErrorSchema, 409: ErrorSchema, 413: ErrorSchema, 507: ErrorSchema }

const createPlainRoutes = (collections: Collections, forms: Forms): Routes => async (app) => {
  await app.register(formbody)
  app.addHook('onSend', forms.discard)

  app.post('/api/collections', {
    schema: {
      operationId: 'createCollection',
      tags,
      summary: 'Create a collection of your own',
      description: 'A form; the cover is its part `artwork`, or is downloaded from `url_cover`.',
      consumes,
      querystring: CreateCollectionQuery,
      body: CreateCollectionForm,
      form: withFile(CreateCollectionForm, 'artwork'),
      response: { 200: CollectionSchema, ...formErrors }
    },
    preValidation: forms.read,
    config: writes
  }, async (request) =>
    collections.create(contextOf(request), request.body, { ...request.query, cover: request.cover }))

  app.get('/api/collections', {
    schema: {
      operationId: 'listCollections', tags, summary: 'List your collections and public ones, by name',
      querystring: ListCollectionsQuery, response: { 200: Type.Array(CollectionSchema) }
    },
    config: reads,
    serializerCompiler: asBuilt
  }, async (request) => collections.list(contextOf(request), request.query.updated_after))

  app.get('/api/collections/identifiers', {
    schema: {
      operationId: 'listCollectionIds', tags, summary: 'List the ids of your collections and of public ones',
      response: { 200: Type.Array(Type.Integer()) }
    },
    config: reads
  }, async (request) => collections.listIds(contextOf(request)))

  app.get('/api/collections/:id', {
    schema: {
      operationId: 'getCollection', tags, summary: 'Get a collection', params: IdParams, response: { 200: CollectionSchema, ...errors }
    },
    config: reads,
    serializerCompiler: asBuilt
  }, async (request) => collections.get(contextOf(request), request.params.id))

  app.put('/api/collections/:id', {
    schema: {
      operationId: 'updateCollection',
      tags,
      summary: 'Change a collection of your own',
      description: 'A form. `rom_ids` replaces the whole list, and is required unless `keep_roms` is true; ROMs that you do ' +
        'not see stay in the list. Other fields stay unchanged if absent. The first of `remove_cover`, `artwork` and `url_cover` applies.',
      consumes,
      params: IdParams,
      querystring: UpdateCollectionQuery,
      body: UpdateCollectionForm,
      form: withFile(UpdateCollectionForm, 'artwork'),
      response: { 200: CollectionSchema, ...errors, ...formErrors, 422: InvalidSchema }
    },
    preValidation: forms.read,
    config: writes
  }, async (request) =>
    collections.update(contextOf(request), request.params.id, request.body, { ...request.query, cover: request.cover }))

  app.delete('/api/collections/:id', {
    schema: {
      operationId: 'deleteCollection', tags, summary: 'Delete a collection of your own; its ROMs stay', params: IdParams,
      response: { 200: Type.Null(), ...errors }
    },
    config: { ...writes, audit: 'collection.deleted' }
  }, async (request) => {
    await collections.delete(contextOf(request), request.params.id)
    return null
  })

  app.post('/api/collections/:id/roms', {
    schema: {
      operationId: 'addCollectionRoms', tags, summary: 'Add ROMs to a collection of your own', params: IdParams,
      body: RomIdsSchema, response: { 200: CollectionSchema, ...errors }
    },
    config: writes
  }, async (request) => collections.addRoms(contextOf(request), request.params.id, request.body.rom_ids))

  app.delete('/api/collections/:id/roms', {
    schema: {
      operationId: 'removeCollectionRoms', tags, summary: 'Remove ROMs from a collection of your own', params: IdParams,
      body: RomIdsSchema, response: { 200: CollectionSchema, ...errors }
    },
    config: writes
  }, async (request) => collections.removeRoms(contextOf(request), request.params.id, request.body.rom_ids))
}

export default createPlainRoutes
