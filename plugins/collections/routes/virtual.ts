import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, type Routes } from '../../../core/typebox.ts'
import { sendPieces } from '../../../core/web/cached-text.ts'
import { VirtualCollectionQuery, VirtualCollectionSchema, VirtualCollectionsQuery } from '../schemas.ts'
import type { VirtualCollections } from '../virtual.ts'

const tags = ['collections']
const reads = { scopes: ['collections.read'] as const }
const VirtualParams = Type.Object({ id: Type.String({ description: 'Id with or without base64 padding' }) })

const createVirtualRoutes = (collections: VirtualCollections): Routes => async (app) => {
  app.get('/api/collections/virtual', {
    schema: {
      operationId: 'listVirtualCollections', tags, summary: 'List the values that three or more visible ROMs have in common, by name',
      querystring: VirtualCollectionsQuery, response: { 200: Type.Array(VirtualCollectionSchema) }
    },
    config: reads
  }, async (request, reply) => {
    const { type, limit, with_rom_ids: withIds } = request.query
    return await sendPieces(request, reply, [await collections.list(contextOf(request), type, { limit, withIds })])
  })

  app.get('/api/collections/virtual/identifiers', {
    schema: {
      operationId: 'listVirtualCollectionIds', tags, summary: 'List the ids of all virtual collections',
      response: { 200: Type.Array(Type.String()) }
    },
    config: reads
  }, async (request) => collections.listIds(contextOf(request)))

  app.get('/api/collections/virtual/:id', {
    schema: {
      operationId: 'getVirtualCollection', tags, summary: 'Get a virtual collection', params: VirtualParams, querystring: VirtualCollectionQuery,
      response: { 200: VirtualCollectionSchema, 404: ErrorSchema }
    },
    config: reads
  }, async (request, reply) => {
    const { params: { id }, query: { with_rom_ids: withIds } } = request
    return await sendPieces(request, reply, [await collections.get(contextOf(request), id, withIds)])
  })

  app.addHook('onListen', () => {
    collections.prepare().catch((err: unknown) => { app.log.debug({ err }, 'virtual collections could not be prepared') })
  })
}

export default createVirtualRoutes
