import { Type } from '@sinclair/typebox'
import { callerOf } from '../../../core/access/auth.ts'
import { ErrorSchema, type Routes } from '../../../core/typebox.ts'
import { type VirtualCollectionView, VirtualCollectionSchema, VirtualCollectionsQuery } from '../schemas.ts'
import type { VirtualCollections } from '../virtual.ts'

const tags = ['collections']
const reads = { scopes: ['collections.read'] as const }
const VirtualParams = Type.Object({ id: Type.String({ description: 'With or without its padding' }) })
const VirtualView = Type.Unsafe<VirtualCollectionView>(VirtualCollectionSchema)

/** The ids of members go out as the text they are kept as: all together there may be millions. */
const asText = ({ rom_ids: { json }, ...view }: VirtualCollectionView) => `${JSON.stringify(view).slice(0, -1)},"rom_ids":${json}}`
const allAsText = (views: VirtualCollectionView[]) => `[${views.map(asText).join(',')}]`
const toJson = (value: unknown) => JSON.stringify(value)
/** What is refused is no collection. */
const oneAsKept = ({ httpStatus }: { httpStatus?: string }) => httpStatus === '200' ? asText : toJson
const allAsKept = ({ httpStatus }: { httpStatus?: string }) => httpStatus === '200' ? allAsText : toJson

const createVirtualRoutes = (collections: VirtualCollections): Routes => async (app) => {
  app.get('/api/collections/virtual', {
    schema: {
      operationId: 'listVirtualCollections', tags, summary: 'What three or more ROMs that you see have in common, by name',
      querystring: VirtualCollectionsQuery, response: { 200: Type.Array(VirtualView) }
    },
    config: reads,
    serializerCompiler: allAsKept
  }, async (request) => collections.list(request.em, callerOf(request), request.query.type, request.query.limit))

  app.get('/api/collections/virtual/identifiers', {
    schema: {
      operationId: 'listVirtualCollectionIds', tags, summary: 'The ids of all virtual collections',
      response: { 200: Type.Array(Type.String()) }
    },
    config: reads
  }, async (request) => collections.listIds(request.em, callerOf(request)))

  app.get('/api/collections/virtual/:id', {
    schema: {
      operationId: 'getVirtualCollection', tags, summary: 'One virtual collection', params: VirtualParams,
      response: { 200: VirtualView, 404: ErrorSchema }
    },
    config: reads,
    serializerCompiler: oneAsKept
  }, async (request) => collections.get(request.em, callerOf(request), request.params.id))
}

export default createVirtualRoutes
