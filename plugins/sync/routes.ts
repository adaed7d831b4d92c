import { Type } from '@sinclair/typebox'
import { callerOf } from '../../core/access/auth.ts'
import { contextOf } from '../../core/access/context.ts'
import type { Routes } from '../../core/typebox.ts'
import { createValidatorCompiler } from '../../core/web/validation.ts'
import { CompleteSchema, ListSyncSessionsQuery, NegotiateResponseSchema, NegotiateSchema, SessionParams, SyncCompleteSchema, SyncSessionSchema } from './schemas.ts'
import { toSessionView } from './views.ts'

const tags = ['sync']
/** Room for about 100,000 files, which is everything a device may have. */
const BODY_MAX_BYTES = 16 * 1024 * 1024
/** `devices.write` also allows reading, because tokens of devices often have no other devices scope. */
const readsSessions = { scopes: ['devices.read'], orScopes: ['devices.write'] } as const

const routes: Routes = async (app) => {
  app.post('/api/sync/negotiate', {
    schema: {
      operationId: 'negotiateSync', tags, summary: 'Decide the operations of a device for its saves and states; opens a session',
      body: NegotiateSchema, response: { 200: NegotiateResponseSchema }
    },
    bodyLimit: BODY_MAX_BYTES,
    validatorCompiler: createValidatorCompiler(false) as never,
    config: { scopes: ['assets.read', 'devices.read'], orScopes: ['assets.read', 'devices.write'] }
  }, async (request, reply) => {
    const answer = await app.sync.negotiate(contextOf(request), request.body)
    // The serializer of a union checks thousands of operations against each of its members, which is slow.
    return reply.type('application/json; charset=utf-8').serializer(JSON.stringify).send(answer)
  })

  app.post('/api/sync/sessions/:session_id/complete', {
    schema: {
      operationId: 'completeSyncSession', tags, summary: 'Complete a sync session, optionally with play sessions',
      params: SessionParams, body: CompleteSchema, response: { 200: SyncCompleteSchema }
    },
    // Apps without play sessions or counts send no body.
    preValidation: async (request) => { request.body ??= {} as never },
    config: { scopes: ['devices.write'] }
  }, async (request) =>
    await app.sync.complete(request.db, callerOf(request).id, request.params.session_id, request.body))

  app.get('/api/sync/sessions', {
    schema: {
      operationId: 'listSyncSessions', tags, summary: 'List sync sessions of your devices, newest first',
      querystring: ListSyncSessionsQuery, response: { 200: Type.Array(SyncSessionSchema) }
    },
    config: readsSessions
  }, async (request) =>
    (await app.sync.list(request.db, callerOf(request).id, request.query)).map(toSessionView))

  app.get('/api/sync/sessions/:session_id', {
    schema: {
      operationId: 'getSyncSession', tags, summary: 'Get a sync session', params: SessionParams,
      response: { 200: SyncSessionSchema }
    },
    config: readsSessions
  }, async (request) =>
    toSessionView(await app.sync.get(request.db, callerOf(request).id, request.params.session_id)))
}

export default routes
