import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, IdParams, type Routes } from '../../../core/typebox.ts'
import type { ProviderAccounts } from '../progress/provider-accounts.ts'
import type { AccountDeletions } from '../accounts/delete-account.ts'
import type { Invites } from '../invites/invites.ts'
import { CreateUserSchema, InviteLinkSchema, InviteQuery, RegisterSchema, createUserSchema } from '../schemas.ts'

const tags = ['users']
const reads = { scopes: ['users.read'] } as const

interface Services { invites: Invites, deletions: AccountDeletions, accounts: ProviderAccounts }

const createRoutes = ({ invites, deletions, accounts }: Services): Routes => async (app) => {
  const UserSchema = createUserSchema(accounts.viewFields)

  app.post('/api/users', {
    schema: {
      operationId: 'createUser',
      tags,
      summary: 'Create a user; while no administrator exists anyone may create the first',
      body: CreateUserSchema,
      response: { 201: UserSchema, 400: ErrorSchema, 401: ErrorSchema, 403: ErrorSchema, 429: ErrorSchema }
    },
    config: { public: true }
  }, async (request, reply) => {
    const { setup_code: code, ...input } = request.body
    await app.users.checkSetup(request, code)
    const user = await app.users.add({ db: request.db, caller: request.caller }, input, request.ip)
    return reply.code(201).send(await app.users.view(user))
  })

  app.post('/api/users/invite-link', {
    schema: {
      operationId: 'createInviteLink',
      tags,
      summary: 'Create an invite; while no administrator exists anyone may',
      querystring: InviteQuery,
      response: { 201: InviteLinkSchema, 400: ErrorSchema, 401: ErrorSchema }
    },
    config: { public: true }
  }, async (request, reply) => {
    const { setup_code: code, ...query } = request.query
    await app.users.checkSetup(request, code)
    return reply.code(201).send(await invites.create({ db: request.db, caller: request.caller }, query, request.ip))
  })

  app.post('/api/users/register', {
    schema: {
      operationId: 'registerUser',
      tags,
      summary: 'Create your own account with an invite',
      body: RegisterSchema,
      response: { 201: UserSchema, 400: ErrorSchema }
    },
    config: { public: true }
  }, async (request, reply) => {
    const user = await invites.register(request.db, request.body, request.ip)
    return reply.code(201).send(await app.users.view(user))
  })

  app.get('/api/users', {
    schema: { operationId: 'listUsers', tags, summary: 'List all users', response: { 200: Type.Array(UserSchema) } },
    config: reads
  }, async (request) => app.users.views(await app.users.list(request.db)))

  app.get('/api/users/identifiers', {
    schema: {
      operationId: 'listUserIds', tags, summary: 'List the ids of all users', response: { 200: Type.Array(Type.Integer()) }
    },
    config: reads
  }, async (request) => (await app.users.list(request.db)).map((user) => user.id))

  app.get('/api/users/me', {
    schema: { operationId: 'getOwnUser', tags, summary: 'Get the account of the caller', response: { 200: UserSchema } },
    config: { scopes: ['me.read'] }
  }, async (request) => app.users.viewOwn(contextOf(request)))

  app.get('/api/users/:id', {
    schema: { operationId: 'getUser', tags, summary: 'Get a user', params: IdParams, response: { 200: UserSchema } },
    config: reads
  }, async (request) => app.users.view(await app.users.get(request.db, request.params.id)))

  app.delete('/api/users/:id', {
    schema: {
      operationId: 'deleteUser', tags, summary: 'Delete a user; its saves can be restored for 30 days', params: IdParams,
      response: { 200: Type.Null(), 400: ErrorSchema }
    },
    config: { scopes: ['users.write'], signedIn: true }
  }, async (request) => {
    await deletions.delete(contextOf(request), request.params.id, request.ip)
    return null
  })
}

export default createRoutes
