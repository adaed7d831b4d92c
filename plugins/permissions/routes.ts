import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { callerOf } from '../../core/access/auth.ts'
import { GRANT_ACTIONS, GRANT_ENTITIES } from '../../core/access/grants.ts'
import { IdParams, type Routes, idOf } from '../../core/typebox.ts'
import {
  CatalogSchema, CreateGroupSchema, GroupSchema, type Hide, HiddenSchema, HideSchema, PermissionsSchema,
  UpdateGroupSchema, UpdateUserRulesSchema, UserRulesSchema
} from './schemas.ts'

const tags = ['permissions']
const reads = { scopes: ['users.read'], admin: true } as const
const writes = { scopes: ['users.write'], admin: true } as const
/** Access to routes that change grants. */
const grants = { ...writes, signedIn: true } as const
const UserParams = Type.Object({ user_id: idOf('a user') })

const toDetails = ({ entity, entity_id: id, user_id: userId, group_id: groupId }: Hide) =>
  ({ entity, entity_id: id, user_id: userId ?? null, group_id: groupId ?? null })

const routes: Routes = async (app) => {
  /** Records a change of permissions in the audit log. */
  async function auditChange (
    request: FastifyRequest, change: string, details: Record<string, string | number | null>
  ) {
    await app.audit.record({
      event: 'permissions.changed', user: callerOf(request), address: request.ip, details: { change, ...details }
    })
  }

  app.get('/api/permissions/me', {
    schema: {
      operationId: 'getOwnPermissions', tags, summary: "Get the caller's permissions",
      response: { 200: PermissionsSchema }
    },
    config: { scopes: ['me.read'] }
  }, async (request) => app.permissions.describe(callerOf(request)))

  app.get('/api/permissions/catalog', {
    schema: {
      operationId: 'getPermissionCatalog', tags, summary: 'List entities and actions of grants', response: { 200: CatalogSchema }
    },
    config: reads
  }, async () => ({ entities: [...GRANT_ENTITIES], actions: [...GRANT_ACTIONS] }))

  app.get('/api/permissions/groups', {
    schema: {
      operationId: 'listPermissionGroups', tags, summary: 'List all groups by name', response: { 200: Type.Array(GroupSchema) }
    },
    config: reads
  }, async (request) => await app.permissions.groups.list(request.db))

  app.post('/api/permissions/groups', {
    schema: {
      operationId: 'createPermissionGroup', tags, summary: 'Add a group', body: CreateGroupSchema,
      response: { 201: GroupSchema }
    },
    config: grants
  }, async (request, reply) => {
    const group = await app.permissions.createGroup(request.db, request.body)
    await auditChange(request, 'group created', { group_id: group.id, group: group.name })
    return reply.code(201).send(group)
  })

  app.put('/api/permissions/groups/:id', {
    schema: {
      operationId: 'updatePermissionGroup', tags, summary: 'Change a group', params: IdParams, body: UpdateGroupSchema,
      response: { 200: GroupSchema }
    },
    config: grants
  }, async (request) => {
    const group = await app.permissions.updateGroup(request.db, request.params.id, request.body)
    await auditChange(request, 'group changed', { group_id: group.id, group: group.name })
    return group
  })

  app.delete('/api/permissions/groups/:id', {
    schema: {
      operationId: 'deletePermissionGroup', tags, summary: 'Delete a group; its members go to the default group',
      params: IdParams, response: { 200: Type.Null() }
    },
    config: grants
  }, async (request) => {
    await app.permissions.deleteGroup(request.db, request.params.id)
    await auditChange(request, 'group deleted', { group_id: request.params.id })
    return null
  })

  app.get('/api/permissions/users/:user_id', {
    schema: {
      operationId: 'getUserPermissions', tags, summary: "Get a user's own rules", params: UserParams,
      response: { 200: UserRulesSchema }
    },
    config: reads
  }, async (request) => await app.permissions.rules.view(request.db, request.params.user_id))

  app.put('/api/permissions/users/:user_id', {
    schema: {
      operationId: 'updateUserPermissions', tags, summary: "Change a user's own rules", params: UserParams,
      body: UpdateUserRulesSchema, response: { 200: UserRulesSchema }
    },
    config: grants
  }, async (request) => {
    const rules = await app.permissions.updateRules(request.db, request.params.user_id, request.body)
    await auditChange(request, 'user changed', { user_id: rules.user_id })
    return rules
  })

  app.post('/api/permissions/hidden', {
    schema: {
      operationId: 'hideEntity', tags, summary: 'Hide a platform or ROM from a user or a group', body: HideSchema,
      response: { 200: HiddenSchema }
    },
    config: writes
  }, async (request) => {
    const hidden = await app.permissions.hide(request.db, request.body)
    await auditChange(request, 'hidden', toDetails(request.body))
    return hidden
  })

  app.delete('/api/permissions/hidden', {
    schema: {
      operationId: 'showEntity', tags, summary: 'Show a hidden platform or ROM again', body: HideSchema, response: { 204: Type.Null() }
    },
    config: writes
  }, async (request, reply) => {
    await app.permissions.unhide(request.db, request.body)
    await auditChange(request, 'shown', toDetails(request.body))
    return reply.code(204).send(null)
  })
}

export default routes
