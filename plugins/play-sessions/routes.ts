import { Type } from '@sinclair/typebox'
import { type RouteAccess, callerOf } from '../../core/access/auth.ts'
import { contextOf } from '../../core/access/context.ts'
import { type Routes, idOf } from '../../core/typebox.ts'
import {
  IngestPlaySessionsSchema, ListPlaySessionsQuery, PlaySessionIngestResponseSchema, PlaySessionSchema, PlayTotalsQuery,
  PlayTotalsSchema
} from './schemas.ts'

const tags = ['play-sessions']
const reads: RouteAccess = { scopes: ['me.read'], orScopes: ['roms.user.read'] }
const writes: RouteAccess = { scopes: ['me.write'], orScopes: ['roms.user.write'] }
const SessionParams = Type.Object({ session_id: idOf('a play session') })

const routes: Routes = async (app) => {
  app.post('/api/play-sessions', {
    schema: {
      operationId: 'ingestPlaySessions', tags, summary: 'Store play sessions', body: IngestPlaySessionsSchema,
      response: { 201: PlaySessionIngestResponseSchema }
    },
    config: writes
  }, async (request, reply) =>
    reply.code(201).send(await app.playSessions.post(contextOf(request), request.body)))

  app.get('/api/play-sessions', {
    schema: {
      operationId: 'listPlaySessions', tags, summary: 'List your play sessions, newest start first',
      querystring: ListPlaySessionsQuery, response: { 200: Type.Array(PlaySessionSchema) }
    },
    config: reads
  }, async (request) => app.playSessions.list(contextOf(request), request.query))

  app.get('/api/play-sessions/totals', {
    schema: {
      operationId: 'listPlayTotals', tags, summary: 'List your play time of each ROM, last played first',
      querystring: PlayTotalsQuery, response: { 200: Type.Array(PlayTotalsSchema) }
    },
    config: reads
  }, async (request) => app.playSessions.totals(contextOf(request), request.query))

  app.delete('/api/play-sessions/:session_id', {
    schema: {
      operationId: 'deletePlaySession', tags, summary: 'Delete one of your play sessions', params: SessionParams,
      response: { 204: Type.Null() }
    },
    config: { ...writes, audit: 'play_session.deleted' }
  }, async (request, reply) => {
    await app.playSessions.delete(request.db, callerOf(request).id, request.params.session_id)
    return reply.code(204).send(null)
  })
}

export default routes
