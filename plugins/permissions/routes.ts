import { Type } from '@sinclair/typebox'
import { callerOf } from '../../core/auth.ts'
import { GRANT_ACTIONS, GRANT_ENTITIES } from '../../core/grants.ts'
import { Id, IdParams, type Routes } from '../../core/typebox.ts'
import {
  CatalogSchema, CreateGroupSchema, GroupSchema, HiddenSchema, HideSchema, PermissionsSchema, UpdateGroupSchema,
  UpdateUserRulesSchema, UserRulesSchema
} from './schemas.ts'

const tags = ['permissions']
const reads = { scopes: ['users.read'], admin: true } as const
const writes = { scopes: ['users.write'], admin: true } as const
const UserParams = Type.Object({ user_id: Id })

const routes: Routes = async (app) => {
  app.get('/api/permissions/me', {
    schema: {
      operationId: 'getOwnPermissions', tags, summary: 'What the caller may do, and what is hidden from it',
      response: { 200: PermissionsSchema }
    },
    config: { scopes: ['me.read'] }
  }, async (request) => await app.permissions.describe(request.em, callerOf(request)))

  app.get('/api/permissions/catalog', {
    schema: {
      operationId: 'getPermissionCatalog', tags, summary: 'What grants can be about', response: { 200: CatalogSchema }
    },
    config: reads
  }, async () => ({ entities: [...GRANT_ENTITIES], actions: [...GRANT_ACTIONS] }))

  app.get('/api/permissions/groups', {
    schema: {
      operationId: 'listPermissionGroups', tags, summary: 'All groups by name', response: { 200: Type.Array(GroupSchema) }
    },
    config: reads
  }, async (request) => await app.permissions.groups.list(request.em))

  app.post('/api/permissions/groups', {
    schema: {
      operationId: 'createPermissionGroup', tags, summary: 'Add a group', body: CreateGroupSchema,
      response: { 201: GroupSchema }
    },
    config: writes
  }, async (request, reply) => reply.code(201).send(await app.permissions.createGroup(request.em, request.body)))

  app.put('/api/permissions/groups/:id', {
    schema: {
      operationId: 'updatePermissionGroup', tags, summary: 'Change a group', params: IdParams, body: UpdateGroupSchema,
      response: { 200: GroupSchema }
    },
    config: writes
  }, async (request) => await app.permissions.updateGroup(request.em, request.params.id, request.body))

  app.delete('/api/permissions/groups/:id', {
    schema: {
      operationId: 'deletePermissionGroup', tags, summary: 'Delete a group; its members go to the default group',
      params: IdParams, response: { 200: Type.Null() }
    },
    config: writes
  }, async (request) => {
    await app.permissions.deleteGroup(request.em, request.params.id)
    return null
  })

  app.get('/api/permissions/users/:user_id', {
    schema: {
      operationId: 'getUserPermissions', tags, summary: "A user's own rules", params: UserParams,
      response: { 200: UserRulesSchema }
    },
    config: reads
  }, async (request) => await app.permissions.rules.view(request.em, request.params.user_id))

  app.put('/api/permissions/users/:user_id', {
    schema: {
      operationId: 'updateUserPermissions', tags, summary: "Change a user's own rules", params: UserParams,
      body: UpdateUserRulesSchema, response: { 200: UserRulesSchema }
    },
    config: writes
  }, async (request) => await app.permissions.updateRules(request.em, request.params.user_id, request.body))

  app.post('/api/permissions/hidden', {
    schema: {
      operationId: 'hideEntity', tags, summary: 'Hide a platform or ROM from a user or a group', body: HideSchema,
      response: { 200: HiddenSchema }
    },
    config: writes
  }, async (request) => await app.permissions.hide(request.em, request.body))

  app.delete('/api/permissions/hidden', {
    schema: {
      operationId: 'showEntity', tags, summary: 'Show what was hidden', body: HideSchema, response: { 204: Type.Null() }
    },
    config: writes
  }, async (request, reply) => {
    await app.permissions.show(request.em, request.body)
    return reply.code(204).send(null)
  })
}

export default routes
