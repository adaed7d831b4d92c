import type { Db } from '../../core/database/db.ts'
import { insertRows } from '../../core/database/insert-rows.ts'

const TOKENS = {
  name: 'client_tokens',
  columns: {
    user_id: 'int', device_id: 'int', name: 'text', token_hash: 'text', scopes: 'text[]', expires_at: 'timestamptz',
    last_used_at: 'timestamptz', created_at: 'timestamptz'
  }
} as const
export type ImportedToken = { readonly [Name in keyof typeof TOKENS.columns]: unknown }

/** Inserts tokens with their hashes. @returns null for each that this server has already */
export const insertImportedTokens = (tx: Db, rows: readonly ImportedToken[]): Promise<(number | null)[]> =>
  insertRows(tx, TOKENS, rows)
