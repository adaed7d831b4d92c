import formbody from '@fastify/formbody'
import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import { ErrorSchema, IdParams, type Routes, bytesOf, withFile } from '../../../core/typebox.ts'
import { clearSessionCookie } from '../../auth/cookie.ts'
import type { ProviderAccounts } from '../progress/provider-accounts.ts'
import type { Achievements } from '../progress/achievements.ts'
import type { Avatars } from '../profile/avatars.ts'
import type { Changes } from '../accounts/change-account.ts'
import { RefreshSchema, createUpdateUserSchema, createUserSchema } from '../schemas.ts'
import { readUpdateForm } from '../profile/update-form.ts'

const tags = ['users']

interface Services {
  config: Config
  avatars: Avatars
  changes: Changes
  accounts: ProviderAccounts
  achievements: Achievements
}

/** Routes with which users change their own account, and administrators every account. */
const createProfileRoutes = ({ config, avatars, changes, accounts, achievements }: Services): Routes => async (app) => {
  const UserSchema = createUserSchema(accounts.viewFields)
  const body = createUpdateUserSchema(accounts.updateFields)
  await app.register(formbody)

  app.get('/api/users/:id/avatar', {
    schema: {
      operationId: 'getUserAvatar', tags, summary: "Get a user's avatar", params: IdParams,
      response: { 200: bytesOf('image/*', 'application/octet-stream'), 404: ErrorSchema }
    },
    config: { scopes: ['assets.read'] }
  }, async (request, reply) => {
    const { avatar_path: path } = await app.users.get(request.db, request.params.id)
    return await app.files.sendObject(request, reply, await avatars.open(path))
  })

  app.put('/api/users/:id', {
    schema: {
      operationId: 'updateUser',
      tags,
      summary: 'Change an account; members their own, administrators any',
      consumes: ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/json'],
      params: IdParams,
      body,
      form: withFile(body, 'avatar'),
      response: { 200: UserSchema, 400: ErrorSchema, 404: ErrorSchema, 413: ErrorSchema, 507: ErrorSchema }
    },
    preValidation: readUpdateForm,
    config: { scopes: ['me.write'] }
  }, async (request, reply) => {
    const { params: { id }, body, ip } = request
    const { user, endsOwnSession } = await changes.update(contextOf(request), id, body, ip)
    if (endsOwnSession) {
      // The response belongs to no caller, so it neither extends the session nor carries its CSRF token.
      request.caller = null
      clearSessionCookie(config, reply)
    }
    return await app.users.view(user)
  })

  app.post('/api/users/:id/ra/refresh', {
    schema: {
      operationId: 'refreshUserAchievements',
      tags,
      summary: "Fetch a user's progress at RetroAchievements",
      params: IdParams,
      body: RefreshSchema,
      response: { 200: Type.Null(), 404: ErrorSchema, 503: ErrorSchema }
    },
    preValidation: async (request) => { request.body ??= null },
    config: { scopes: ['me.write'] }
  }, async (request) => {
    const { params: { id }, body } = request
    return await achievements.refresh(contextOf(request), id, 'ra', body?.incremental ?? false)
  })
}

export default createProfileRoutes
