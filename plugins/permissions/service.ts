import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import { ADMIN_ACCESS, type Access, scopesOf } from '../../core/access/grants.ts'
import { passwordMarkOf } from '../../core/access/secrets.ts'
import type { Db } from '../../core/database/db.ts'
import { notFound } from '../../core/errors.ts'
import type { EventDescriptions, ServerEvents } from '../../core/sockets/sockets.ts'
import type { User } from '../users/entities.ts'
import { NO_ACCESS, loadAccess, loadGuestAccess } from './access-rows.ts'
import { listActions } from './actions.ts'
import { createAnnouncedChanges } from './announced-changes.ts'
import { findPlatformAudience, findReaders, listAudiences } from './audience-rows.ts'
import { groups } from './groups.ts'
import { rules } from './rules.ts'

const PermissionsChangedSchema = Type.Object({ user_id: Type.Integer() }, { title: 'PermissionsChanged' })
type PermissionsChanged = Static<typeof PermissionsChangedSchema>

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents { 'permissions:changed': PermissionsChanged }
}

export const permissionEvents: EventDescriptions<ServerEvents> = {
  'permissions:changed': { summary: 'The permissions of an account changed; fetch them again', schema: PermissionsChangedSchema }
}

/** The id of guests, which no account has. */
const GUEST_ID = 0

/** The credential of a request, and its restrictions. */
export type Credential = Pick<Caller, 'credential'> & Partial<Pick<Caller, 'session_id' | 'token_id' | 'device_id'>> & {
  /** The scopes of a token; undefined means all scopes of the account. */
  scopes?: readonly string[]
}

async function accessOf (db: Db, user: Pick<User, 'id' | 'role'>): Promise<Access> {
  if (user.role === 'admin') return ADMIN_ACCESS
  const access = (await loadAccess(db, [user.id])).get(user.id)
  return access ?? NO_ACCESS
}

type SignedInUser = Pick<User, 'id' | 'username' | 'role' | 'password_hash'>

/** Returns the caller for an account and a credential. A token never allows more than its owner may do. */
async function toCaller (db: Db, user: SignedInUser, given: Credential): Promise<Caller> {
  const access = await accessOf(db, user)
  const { scopes: named, credential, session_id: session, token_id: token, device_id: device } = given
  const granted = scopesOf(access)
  return {
    id: user.id,
    username: user.username,
    role: user.role,
    access,
    scopes: new Set(named === undefined ? granted : granted.filter((scope) => named.includes(scope))),
    credential,
    session_id: session ?? null,
    token_id: token ?? null,
    device_id: device ?? null,
    password_mark: passwordMarkOf(user.password_hash)
  }
}

/** Creates the service that `app.permissions` is. */
export function createPermissions (app: FastifyInstance) {
  /** Notifies all clients; those of the named users fetch their permissions again. */
  function announce (userIds: readonly number[]): void {
    for (const userId of userIds) app.sockets.publish(null, 'permissions:changed', { user_id: userId })
  }

  return {
    ...createAnnouncedChanges(announce),
    accessOf: (user: Pick<User, 'id' | 'role'>): Promise<Access> => accessOf(app.db, user),
    announce,
    groups,
    rules,
    listAudiences,

    /** Lists the users who may read platforms and see this one; null for everybody. */
    findPlatformAudience: (platformId: number) => findPlatformAudience(app.db, platformId),

    /** Lists the users whose grants allow to read public collections of others; null for everybody. */
    findCollectionReaders: () => findReaders(app.db, 'collections'),

    /** Returns permissions without the ids of hidden objects, because the ids would reveal that the objects exist. */
    describe: ({ access }: Caller) => ({
      is_admin: access.is_admin,
      grants: listActions(access).map((action) => ({ action, scope: { kind: 'global' as const, id: null } })),
      hidden: { platforms: [], roms: [] }
    }),

    /** Loads the access of several accounts, by user id. */
    listAccess: (userIds: readonly number[]) => loadAccess(app.db, userIds),

    /** Loads several accounts as callers, by user id. */
    async listCallers (userIds: readonly number[]): Promise<Map<number, Pick<Caller, 'id' | 'access'>>> {
      if (userIds.length === 0) return new Map()
      return new Map([...await loadAccess(app.db, [...new Set(userIds)])].map(([id, access]) => [id, { id, access }]))
    },

    /**
     * Loads the context of work that an account started. Null stands for the operator and the server, who see
     * everything.
     *
     * @throws ApiError NOT_FOUND if the account was deleted
     */
    async contextOf (userId: number | null): Promise<Context<Pick<Caller, 'id' | 'access'> | null>> {
      if (userId === null) return { db: app.db, caller: null }
      const access = (await loadAccess(app.db, [userId])).get(userId)
      if (access === undefined) throw notFound('The account that started the task is deleted; start the task again')
      return { db: app.db, caller: { id: userId, access } }
    },

    /** Returns the context of a public route. Its caller may be a guest, with the access of the default group. */
    publicContextOf: async ({ db, caller }: FastifyRequest): Promise<Context<Pick<Caller, 'id' | 'access'>>> =>
      ({ db, caller: caller ?? { id: GUEST_ID, access: await loadGuestAccess(db) } }),
    toCaller: (user: SignedInUser, given: Credential): Promise<Caller> => toCaller(app.db, user, given)
  }
}
