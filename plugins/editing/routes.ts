import formbody from '@fastify/formbody'
import { contextOf } from '../../core/access/context.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { ErrorSchema, IdParams, withFile } from '../../core/typebox.ts'
import { DetailedRomSchema } from '../roms/schemas.ts'
import { romSerializer } from '../roms/views.ts'
import type { ArtworkForms } from './artwork-form.ts'
import { EditQuery, RomSourcesSchema, createEditForm } from './schemas.ts'

const routes: FeatureRoutes<ArtworkForms> = async (app, _options, forms) => {
  const body = createEditForm(app.roms.providers)
  await app.register(formbody)
  app.get('/api/roms/:id/sources', {
    schema: {
      operationId: 'getRomSources',
      tags: ['roms'],
      summary: 'Get the providers of the values of a ROM',
      params: IdParams,
      response: { 200: RomSourcesSchema }
    },
    config: { scopes: ['roms.read'] }
  }, async (request) => app.editing.getSources(contextOf(request), request.params.id))

  app.put('/api/roms/:id', {
    schema: {
      operationId: 'updateRom',
      tags: ['roms'],
      summary: 'Edit a ROM',
      description: 'Fields that are absent from the form stay unchanged. A value that differs from those of the metadata providers is ' +
        'locked: scans keep it until `unlock` removes the lock. A picture is the part `artwork` of a multipart form.',
      consumes: ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/json'],
      params: IdParams,
      querystring: EditQuery,
      body,
      form: withFile(body, 'artwork'),
      response: {
        200: DetailedRomSchema,
        400: ErrorSchema,
        404: ErrorSchema,
        409: ErrorSchema,
        413: ErrorSchema,
        503: ErrorSchema,
        507: ErrorSchema
      }
    },
    preValidation: forms.read,
    onResponse: forms.discard,
    serializerCompiler: romSerializer,
    config: { scopes: ['roms.write'] }
  }, async (request) => {
    const { artwork, body, params: { id }, query } = request
    return await app.editing.change(contextOf(request), id, body, {
      unmatches: query.unmatch_metadata,
      removesCover: query.remove_cover,
      artwork: artwork?.path ?? null,
      unlock: query.unlock
    })
  })
}

export default routes
