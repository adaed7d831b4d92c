import { createInsert } from '../../core/database/insert-rows.ts'

const TOKENS = {
  name: 'client_tokens',
  columns: {
    user_id: 'int', device_id: 'int', name: 'text', token_hash: 'text', scopes: 'text[]', expires_at: 'timestamptz',
    last_used_at: 'timestamptz', created_at: 'timestamptz'
  }
} as const

/** Inserts tokens with their hashes. @returns null for each that this server has already */
export const insertImportedTokens = createInsert(TOKENS)
