import formbody from '@fastify/formbody'
import type { FastifyRequest } from 'fastify'
import { callerOf } from '../../core/access/auth.ts'
import { badRequest } from '../../core/errors.ts'
import { ErrorSchema, IdParams, type Routes } from '../../core/typebox.ts'
import { DetailedRomSchema } from '../roms/schemas.ts'
import { MatchQuery, RomSourcesSchema, createMatchForm } from './schemas.ts'

const LIMITS = { files: 0, fields: 100, fieldSize: 64 * 1024, parts: 100 }

/** Brings a multipart form into the shape of an urlencoded one. */
async function readForm (request: FastifyRequest): Promise<void> {
  if (!request.isMultipart()) {
    request.body ??= {}
    return
  }
  const entries: [string, unknown][] = []
  try {
    for await (const part of request.parts({ limits: LIMITS })) {
      if (part.type === 'field') entries.push([part.fieldname, part.value])
    }
  } catch (err) {
    if (err instanceof Error && 'statusCode' in err) throw err
    throw badRequest(`The form cannot be read: ${err instanceof Error ? err.message : String(err)}`)
  }
  request.body = Object.fromEntries(entries)
}

const routes: Routes = async (app) => {
  await app.register(formbody)
  app.get('/api/roms/:id/sources', {
    schema: {
      operationId: 'getRomSources',
      tags: ['roms'],
      summary: 'Which providers the values of a ROM came from',
      params: IdParams,
      response: { 200: RomSourcesSchema }
    },
    config: { scopes: ['roms.read'] }
  }, async (request) => app.matching.getSources(request.em, callerOf(request), request.params.id))

  app.put('/api/roms/:id', {
    schema: {
      operationId: 'updateRom',
      tags: ['roms'],
      summary: 'Say which game a ROM is at the metadata providers',
      consumes: ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/json'],
      params: IdParams,
      querystring: MatchQuery,
      body: createMatchForm(app.roms.providers),
      response: { 200: DetailedRomSchema, 400: ErrorSchema, 404: ErrorSchema, 503: ErrorSchema }
    },
    preValidation: readForm,
    serializerCompiler: () => (answer: unknown) => JSON.stringify(answer),
    config: { scopes: ['roms.write'] }
  }, async (request) => {
    const { em, params: { id }, body, query } = request
    return await app.matching.change(em, callerOf(request), id, body, query.unmatch_metadata)
  })
}

export default routes
