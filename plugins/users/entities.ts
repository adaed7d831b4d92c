import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { callersTrigger } from '../../core/access/caller-cache.ts'
import { PermissionGroup } from '../permissions/group-entities.ts'

export const ROLES = ['admin', 'user'] as const

/** The changes of an account that change its callers. */
const CALLER_CHANGES = 'delete or update of "username", "role", "enabled", "password_hash", "permission_group_id", "age_limit", ' +
  '"hide_unrated_roms"'

export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  triggers: [callersTrigger('users', CALLER_CHANGES)],
  uniques: [{ properties: ['oidc_issuer', 'oidc_subject'] }],
  properties: {
    id: columns.id(),
    username: columns.text().unique(),
    email: columns.text().unique().nullable(),
    /** True if the address is known to be this user's. A user who changes the own address does not confirm it. */
    email_confirmed: columns.flag(false),
    password_hash: columns.text().nullable(),
    role: p.enum(ROLES).default('user'),
    enabled: columns.flag(true),
    /** The group whose rules apply; null for the default group. */
    permission_group: () => p.manyToOne(PermissionGroup).deleteRule('set null').joinColumn('permission_group_id').nullable().index(),
    /** Overrides the group's limit; null for the group's. */
    age_limit: p.integer().nullable(),
    hide_unrated_roms: p.boolean().nullable(),
    /** The user's identity at the OpenID provider. */
    oidc_issuer: columns.text().nullable(),
    oidc_subject: columns.text().nullable(),
    /** The folder of the user's files. Its name is random, so that users of another database never own its files. */
    folder: columns.text().unique().defaultRaw('(gen_random_uuid())::text'),
    avatar_path: columns.text().default(''),
    ui_settings: p.json<Record<string, unknown> | null>().nullable(),
    last_login: columns.time().nullable(),
    last_active: columns.time().nullable(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type User = InferEntity<typeof User>

/**
 * A user's settings for a provider, under their names on the wire, and the last progress that the provider reported.
 */
export const ProviderAccount = defineEntity({
  name: 'ProviderAccount',
  tableName: 'provider_accounts',
  primaryKeys: ['user', 'provider'],
  properties: {
    user: () => p.manyToOne(User).primary().deleteRule('cascade').joinColumn('user_id'),
    provider: columns.text().primary(),
    settings: p.json<Record<string, unknown>>(),
    progress: p.json<object[] | null>().nullable()
  }
})
