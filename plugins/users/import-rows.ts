import { type InsertRow, insertRows } from '../../core/database/insert-rows.ts'
import type { Db } from '../../core/database/db.ts'

const USERS = {
  name: 'users',
  columns: {
    username: 'text', email: 'text', password_hash: 'text', role: 'text', enabled: 'boolean', permission_group_id: 'int',
    ui_settings: 'jsonb', last_login: 'timestamptz', last_active: 'timestamptz', created_at: 'timestamptz',
    updated_at: 'timestamptz', folder: 'text', avatar_path: 'text'
  }
} as const

export type ImportedUser = InsertRow<keyof typeof USERS.columns>

/** Inserts an account of another server. Its e-mail address is unconfirmed. @returns null for a taken name */
export async function insertImportedUser (tx: Db, user: ImportedUser): Promise<number | null> {
  return (await insertRows(tx, USERS, [user]))[0] ?? null
}

/** Finds accounts by their names, or by their addresses. */
export async function findAccount (
  db: Db, by: { username: string } | { email: string }
): Promise<{ id: number, role: string } | null> {
  const [column, value] = 'username' in by ? ['username', by.username] : ['email', by.email]
  const { rows } = await db.query<{ id: number, role: string }>(`select id, role from users where ${column} = $1`, [value])
  return rows[0] ?? null
}

/** Sets the picture of an account that has none. @returns false if the account has one, or is gone */
export async function setFirstAvatar (tx: Db, userId: number, path: string): Promise<boolean> {
  const { rowCount } = await tx.query("update users set avatar_path = $2 where id = $1 and avatar_path = ''", [userId, path])
  return rowCount > 0
}
