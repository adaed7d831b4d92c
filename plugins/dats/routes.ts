import { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import { contextOf } from '../../core/access/context.ts'
import { ErrorSchema, IdParams, type Routes } from '../../core/typebox.ts'
import { contentDisposition } from '../resources/file-reply.ts'
import { TaskExecutionSchema } from '../tasks/schemas.ts'
import { toTaskExecution } from '../tasks/views.ts'
import {
  ChangeDatSchema, DatGamePageSchema, DatRenamePageSchema, DatRomPageSchema, DatSchema, ListDatsQuery, ListGamesQuery,
  PageQuery, UploadDatsForm, UploadDatsQuery
} from './schemas.ts'

const tags = ['dats']
const reads = { scopes: ['roms.read', 'platforms.read'] as const }
const writes = { scopes: ['platforms.write'] as const, admin: true }
/** The database time of work on a whole DAT, in many short statements. */
const WHOLE_DAT_MS = 600_000

/** The schema of a DAT, only for the API document, because it is streamed. */
const XmlResponse = { description: 'A DAT file', content: { 'application/xml': { schema: Type.String() } } }

function sendXml (reply: FastifyReply, name: string, text: AsyncIterable<string>): FastifyReply {
  reply.headers({ 'cache-control': 'no-cache', 'content-disposition': contentDisposition('attachment', name) })
  return reply.type('application/xml; charset=utf-8').send(Readable.from(text))
}

const routes: Routes = async (app) => {
  app.get('/api/dats', {
    schema: {
      operationId: 'listDats', tags, summary: 'List DAT files with the games that you have and miss', querystring: ListDatsQuery,
      response: { 200: Type.Array(DatSchema) }
    },
    config: reads
  }, async (request) => await app.dats.list(contextOf(request), request.query.platform_id))

  app.post('/api/dats', {
    schema: {
      operationId: 'addDats',
      tags,
      summary: 'Upload DAT files',
      description: 'A form with up to 20 parts `files`. The response is the task that loads them; its `meta` names each loaded DAT and ' +
        'each problem. A newer version replaces the former one of the same name.',
      consumes: ['multipart/form-data'],
      querystring: UploadDatsQuery,
      form: UploadDatsForm,
      response: { 202: TaskExecutionSchema, 400: ErrorSchema, 413: ErrorSchema, 503: ErrorSchema, 507: ErrorSchema }
    },
    config: { ...writes, audit: 'dat.uploaded' }
  }, async (request, reply) => {
    const task = await app.dats.upload(request, request.query.platform_slugs ?? null)
    return await reply.code(202).send(toTaskExecution(task))
  })

  app.get('/api/dats/:id', {
    schema: {
      operationId: 'getDat', tags, summary: 'Get a DAT file', params: IdParams, response: { 200: DatSchema, 404: ErrorSchema }
    },
    config: reads
  }, async (request) => await app.dats.get(contextOf(request), request.params.id))

  app.patch('/api/dats/:id', {
    schema: {
      operationId: 'updateDat', tags, summary: 'Choose the platforms of a DAT file', params: IdParams, body: ChangeDatSchema,
      response: { 200: DatSchema, 404: ErrorSchema }
    },
    config: { ...writes, audit: 'dat.updated' }
  }, async (request) => {
    const { params: { id }, body: { platform_slugs: slugs } } = request
    return await app.dats.choosePlatforms(contextOf(request), id, slugs)
  })

  app.delete('/api/dats/:id', {
    schema: {
      operationId: 'deleteDat', tags, summary: 'Delete a DAT file; ROMs stay', params: IdParams,
      response: { 204: Type.Null(), 404: ErrorSchema, 409: ErrorSchema }
    },
    config: { ...writes, audit: 'dat.deleted', databaseMs: WHOLE_DAT_MS }
  }, async (request, reply) => {
    await app.dats.remove(contextOf(request), request.params.id)
    return await reply.code(204).send(null)
  })

  app.get('/api/dats/:id/games', {
    schema: {
      operationId: 'listDatGames', tags, summary: 'List the games of a DAT file: all, those that you have, or those that you miss',
      params: IdParams, querystring: ListGamesQuery, response: { 200: DatGamePageSchema, 404: ErrorSchema }
    },
    config: reads
  }, async (request) => await app.dats.listGames(contextOf(request), request.params.id, request.query))

  app.get('/api/dats/:id/extras', {
    schema: {
      operationId: 'listDatExtras', tags, summary: 'List ROMs of the platform that are no game of a DAT file', params: IdParams,
      querystring: PageQuery, response: { 200: DatRomPageSchema, 404: ErrorSchema }
    },
    config: reads
  }, async (request) => await app.dats.listExtras(contextOf(request), request.params.id, request.query))

  app.get('/api/dats/:id/fixdat', {
    schema: {
      operationId: 'getFixdat', tags, summary: 'Download a DAT file of the games that you miss, as Logiqx XML', params: IdParams,
      response: { 200: XmlResponse, 404: ErrorSchema }
    },
    config: { ...reads, databaseMs: WHOLE_DAT_MS }
  }, async (request, reply) => {
    const { name, text } = await app.dats.createFixdat(contextOf(request), request.params.id)
    return sendXml(reply, name, text)
  })

  app.post('/api/dats/:id/renames/preview', {
    schema: {
      operationId: 'previewDatRenames',
      tags,
      summary: 'List ROMs whose names differ from a DAT file',
      description: 'Changes nothing. The task `rename_by_dat` renames them.',
      params: IdParams,
      querystring: PageQuery,
      response: { 200: DatRenamePageSchema, 404: ErrorSchema }
    },
    config: { scopes: ['roms.write'] }
  }, async (request) => await app.dats.previewRenames(contextOf(request), request.params.id, request.query))
}

export default routes
