import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { contextOf } from '../../core/access/context.ts'
import { EmptyBody, ErrorSchema, type Routes } from '../../core/typebox.ts'
import { NamedFileForm } from '../rom-files/schemas.ts'
import {
  ChunkHeaders, ReceivedSchema, SingleUploadHeaders, StartHeaders, StartedSchema, UploadParams, UploadSchema
} from './schemas.ts'

const tags = ['roms']
const config = { scopes: ['roms.write'] as const }
const UPLOAD_ERRORS = { 400: ErrorSchema, 409: ErrorSchema, 413: ErrorSchema, 503: ErrorSchema, 507: ErrorSchema }
const FOREIGN = { 400: ErrorSchema, 403: ErrorSchema, 404: ErrorSchema }

const routes: Routes = async (app) => {
  // The body is the raw bytes, of any type; routes without a body ignore it.
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser('*', (_request: FastifyRequest, payload, done) => { done(null, payload) })

  app.post('/api/roms', {
    schema: {
      operationId: 'addRom',
      tags,
      summary: 'Upload a ROM in one request',
      description: 'A form whose part has the name of the file, or the bytes themselves. A scan starts, which adds the ROM. ' +
        'Send large files in chunks, which survive a lost connection: `startRomUpload`.',
      consumes: ['multipart/form-data', 'application/octet-stream'],
      form: NamedFileForm,
      headers: SingleUploadHeaders,
      response: { 200: EmptyBody, ...UPLOAD_ERRORS }
    },
    config
  }, async (request) => { await app.uploads.add(request, request.headers) })

  app.post('/api/roms/upload/start', {
    schema: {
      operationId: 'startRomUpload',
      tags,
      summary: 'Start an upload of a ROM in chunks',
      description: 'Send the chunks with `putRomUploadChunk`, in any order, then call `completeRomUpload`. An upload that is ' +
        'not complete after 24 hours is deleted.',
      headers: StartHeaders,
      response: { 201: StartedSchema, ...UPLOAD_ERRORS }
    },
    config
  }, async (request, reply) => reply.code(201).send(await app.uploads.start(request, request.headers)))

  app.get('/api/roms/upload/:upload_id', {
    schema: {
      operationId: 'getRomUpload', tags, summary: 'Get the received chunks of an upload, to send only the others after a lost connection',
      params: UploadParams, response: { 200: UploadSchema, ...FOREIGN }
    },
    config
  }, async (request) => await app.uploads.get(contextOf(request), request.params.upload_id))

  app.put('/api/roms/upload/:upload_id', {
    schema: {
      operationId: 'putRomUploadChunk',
      tags,
      summary: 'Send a chunk of an upload, or send it again',
      description: 'The body has the bytes of the chunk, 64 MiB at most. Use the same size for all chunks but the last, because the server ' +
        'then need not copy them. With `Content-Digest` the server verifies the received bytes.',
      consumes: ['application/octet-stream'],
      params: UploadParams,
      headers: ChunkHeaders,
      response: { 200: ReceivedSchema, ...FOREIGN, ...UPLOAD_ERRORS }
    },
    config
  }, async (request) => {
    const { params: { upload_id: id }, headers: { 'x-chunk-index': number, 'content-digest': digest } } = request
    return await app.uploads.storeChunk(request, id, { number, digest })
  })

  app.post('/api/roms/upload/:upload_id/complete', {
    schema: {
      operationId: 'completeRomUpload', tags, summary: 'Join the chunks to a file of the library, and scan the file', params: UploadParams,
      response: { 201: EmptyBody, ...FOREIGN, 409: ErrorSchema, 503: ErrorSchema, 507: ErrorSchema }
    },
    config
  }, async (request, reply) => {
    await app.uploads.complete(contextOf(request), request.params.upload_id)
    reply.code(201)
  })

  app.post('/api/roms/upload/:upload_id/cancel', {
    schema: {
      operationId: 'cancelRomUpload', tags, summary: 'Cancel an upload; a missing upload is not an error', params: UploadParams,
      response: { 204: Type.Null(), 400: ErrorSchema, 403: ErrorSchema }
    },
    config
  }, async (request, reply) => {
    await app.uploads.cancel(contextOf(request), request.params.upload_id)
    reply.code(204)
  })
}

export default routes
