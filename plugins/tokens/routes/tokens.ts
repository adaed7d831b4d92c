import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import { type Routes, idOf } from '../../../core/typebox.ts'
import { actorOf } from '../actor.ts'
import { ClientTokenAdminSchema, ClientTokenCreateSchema, ClientTokenSchema, CreateTokenSchema } from '../schemas.ts'
import { toTokenAdminView, toTokenView } from '../views.ts'

const tags = ['client-tokens']
const TokenParams = Type.Object({ token_id: idOf('a token') })

const routes: Routes = async (app) => {
  app.post('/api/client-tokens', {
    schema: {
      operationId: 'createClientToken',
      tags,
      summary: 'Create a token',
      description: 'Its scopes are at most those of the caller.',
      body: CreateTokenSchema,
      response: { 201: ClientTokenCreateSchema }
    },
    config: { scopes: ['me.write'], signedIn: 'partly' }
  }, async (request, reply) => {
    const { token, raw } = await app.tokens.create(request.db, actorOf(request), request.body)
    return reply.code(201).send({ ...toTokenView(token), raw_token: raw })
  })

  app.get('/api/client-tokens', {
    schema: {
      operationId: 'listClientTokens', tags, summary: 'List your tokens, newest first',
      response: { 200: Type.Array(ClientTokenSchema) }
    },
    config: { scopes: ['me.read'] }
  }, async (request) => (await app.tokens.list(contextOf(request))).map(toTokenView))

  app.delete('/api/client-tokens/:token_id', {
    schema: {
      operationId: 'deleteClientToken',
      tags,
      summary: 'Revoke one of your tokens',
      description: 'Without `me.write` a token can only revoke itself.',
      params: TokenParams,
      response: { 200: Type.Null() }
    },
    config: { scopes: ['me.write'], orScopes: ['me.read'] }
  }, async (request) => {
    await app.tokens.delete(request.db, actorOf(request), request.params.token_id)
    return null
  })

  app.put('/api/client-tokens/:token_id/regenerate', {
    schema: {
      operationId: 'regenerateClientToken', tags, summary: 'Replace the secret of a token', params: TokenParams,
      response: { 200: ClientTokenCreateSchema }
    },
    config: { scopes: ['me.write'], signedIn: true }
  }, async (request) => {
    const { token, raw } = await app.tokens.regenerate(request.db, actorOf(request), request.params.token_id)
    return { ...toTokenView(token), raw_token: raw }
  })

  app.get('/api/client-tokens/all', {
    schema: {
      operationId: 'listAllClientTokens', tags, summary: 'List the tokens of all users, newest first',
      response: { 200: Type.Array(ClientTokenAdminSchema) }
    },
    config: { scopes: ['users.read'] }
  }, async (request) => (await app.tokens.listAll(request.db)).map(toTokenAdminView))

  app.delete('/api/client-tokens/:token_id/admin', {
    schema: {
      operationId: 'deleteAnyClientToken', tags, summary: 'Revoke a token of any user', params: TokenParams,
      response: { 200: Type.Null() }
    },
    config: { scopes: ['users.write'], signedIn: true }
  }, async (request) => {
    await app.tokens.deleteAny(request.db, actorOf(request), request.params.token_id)
    return null
  })
}

export default routes
