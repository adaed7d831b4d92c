import { formatDate } from '../../core/typebox.ts'
import type { Caller } from '../../core/access/auth.ts'
import { type Access, scopesOf } from '../../core/access/grants.ts'
import { SCOPES } from '../../core/access/scopes.ts'
import type { User } from './entities.ts'
import type { UserView } from './schemas.ts'

/** @param accounts the fields of the user's accounts at providers */
export function toUserView (user: User, access: Access, accounts: Record<string, unknown>): UserView {
  return {
    ...accounts,
    id: user.id,
    username: user.username,
    email: user.email ?? null,
    enabled: user.enabled,
    role: user.role,
    permission_group_id: user.permission_group?.id ?? null,
    oauth_scopes: scopesOf(access),
    avatar_path: user.avatar_path,
    last_login: formatDate(user.last_login ?? null),
    last_active: formatDate(user.last_active ?? null),
    ui_settings: user.ui_settings ?? null,
    current_device_id: null,
    created_at: formatDate(user.created_at),
    updated_at: formatDate(user.updated_at)
  }
}

const NEVER = formatDate(0)

/** Returns the wire form of a guest in kiosk mode. */
export function toGuestView ({ id, username, role, scopes }: Caller, accounts: Record<string, unknown>): UserView {
  return {
    ...accounts,
    id,
    username,
    email: null,
    enabled: true,
    role,
    permission_group_id: null,
    oauth_scopes: SCOPES.filter((scope) => scopes.has(scope)),
    avatar_path: '',
    last_login: null,
    last_active: null,
    ui_settings: null,
    current_device_id: null,
    created_at: NEVER,
    updated_at: NEVER
  }
}
