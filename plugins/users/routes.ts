import { Type } from '@sinclair/typebox'
import { callerOf } from '../../core/auth.ts'
import { IdParams, type Routes } from '../../core/typebox.ts'
import { CreateUserSchema, UserSchema } from './schemas.ts'

const tags = ['users']

const routes: Routes = async (app) => {
  app.post('/api/users', {
    schema: {
      operationId: 'createUser',
      tags,
      summary: 'Create a user; while no administrator exists anyone may create the first',
      body: CreateUserSchema,
      response: { 201: UserSchema }
    },
    config: { public: true }
  }, async (request, reply) => {
    const user = await app.users.register(request.em, request.caller, request.body)
    return reply.code(201).send(await app.users.view(user))
  })

  app.get('/api/users', {
    schema: { operationId: 'listUsers', tags, summary: 'All users', response: { 200: Type.Array(UserSchema) } },
    config: { scopes: ['users.read'] }
  }, async (request) => app.users.views(await app.users.list(request.em)))

  app.get('/api/users/identifiers', {
    schema: {
      operationId: 'listUserIds', tags, summary: 'The ids of all users', response: { 200: Type.Array(Type.Integer()) }
    },
    config: { scopes: ['users.read'] }
  }, async (request) => (await app.users.list(request.em)).map((user) => user.id))

  app.get('/api/users/me', {
    schema: { operationId: 'getOwnUser', tags, summary: 'The caller', response: { 200: UserSchema } },
    config: { scopes: ['me.read'] }
  }, async (request) => app.users.view(await app.users.get(request.em, callerOf(request).id)))

  app.get('/api/users/:id', {
    schema: { operationId: 'getUser', tags, summary: 'One user', params: IdParams, response: { 200: UserSchema } },
    config: { scopes: ['users.read'] }
  }, async (request) => app.users.view(await app.users.get(request.em, request.params.id)))
}

export default routes
