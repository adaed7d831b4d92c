import { Type } from '@sinclair/typebox'
import { contextOf } from '../../core/access/context.ts'
import { ErrorSchema, IdParams, type Routes } from '../../core/typebox.ts'
import { AddLibrarySchema, ChangeLibrarySchema, LibrarySchema, RemoveLibraryQuery } from './schemas.ts'

const tags = ['libraries']
const reads = { scopes: ['platforms.read'] as const }
/** Restricted to administrators, because the server serves the content of any folder that becomes a library. */
const writes = { scopes: ['platforms.write'] as const, admin: true, signedIn: true, audit: 'settings.changed' as const }
const refusals = { 400: ErrorSchema, 409: ErrorSchema, 500: ErrorSchema }
/** Enough time to forget a large library on a slow machine. */
const DELETE_MAX_MS = 10 * 60_000

const routes: Routes = async (app) => {
  app.get('/api/libraries', {
    schema: {
      operationId: 'listLibraries',
      tags,
      summary: 'List the libraries, with the number of platforms and ROMs of each that you may see',
      response: { 200: Type.Array(LibrarySchema) }
    },
    config: reads
  }, async (request) => await app.libraries.list(contextOf(request)))

  app.get('/api/libraries/:id', {
    schema: {
      operationId: 'getLibrary', tags, summary: 'Get a library', params: IdParams, response: { 200: LibrarySchema, 404: ErrorSchema }
    },
    config: reads
  }, async (request) => await app.libraries.get(contextOf(request), request.params.id))

  app.post('/api/libraries', {
    schema: {
      operationId: 'addLibrary',
      tags,
      summary: 'Add a root folder; the next scan reads it',
      description: 'The library is written into `libraries` of config.yml and applies at once, without a restart. The library of ' +
        '`SVC_LIBRARY_DIR` is added there too if it was not listed.',
      body: AddLibrarySchema,
      response: { 201: LibrarySchema, ...refusals }
    },
    config: writes
  }, async (request, reply) => {
    const added = await app.libraries.add(contextOf(request), request.body)
    return await reply.code(201).send(added)
  })

  app.put('/api/libraries/:id', {
    schema: {
      operationId: 'updateLibrary', tags, summary: 'Change a library; absent fields stay', params: IdParams,
      body: ChangeLibrarySchema, response: { 200: LibrarySchema, 404: ErrorSchema, ...refusals }
    },
    config: writes
  }, async (request) => await app.libraries.change(contextOf(request), request.params.id, request.body))

  app.delete('/api/libraries/:id', {
    schema: {
      operationId: 'deleteLibrary',
      tags,
      summary: 'Remove a library from the configuration; its files stay',
      description: 'The data of its ROMs stays too, and applies again when the library is added again by its name or folder; ' +
        'until then the files are not available. `forget` deletes the data.',
      params: IdParams,
      querystring: RemoveLibraryQuery,
      response: { 204: Type.Null(), 404: ErrorSchema, ...refusals }
    },
    config: { ...writes, databaseMs: DELETE_MAX_MS }
  }, async (request, reply) => {
    await app.libraries.remove(contextOf(request), request.params.id, request.query.forget)
    return await reply.code(204).send(null)
  })
}

export default routes
