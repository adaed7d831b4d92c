import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/columns.ts'

export const ROLES = ['admin', 'user'] as const

export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: columns.id(),
    username: columns.text().unique(),
    email: columns.text().unique().nullable(),
    password_hash: columns.text().nullable(),
    role: p.enum(ROLES).default('user'),
    enabled: columns.flag(true),
    avatar_path: columns.text().default(''),
    ra_username: columns.text().nullable(),
    ui_settings: p.json<Record<string, unknown> | null>().nullable(),
    last_login: columns.time().nullable(),
    last_active: columns.time().nullable(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type User = InferEntity<typeof User>
