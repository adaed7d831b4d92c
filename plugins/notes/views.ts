import { formatDate } from '../../core/typebox.ts'
import type { NoteRow } from './rows.ts'
import type { UserNoteView } from './schemas.ts'

export const toNoteView = (row: NoteRow): UserNoteView => ({
  ...row,
  created_at: formatDate(row.created_at),
  updated_at: formatDate(row.updated_at),
  user_updated_at: formatDate(row.user_updated_at)
})
