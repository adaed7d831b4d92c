import { type Static, Type } from '@sinclair/typebox'
import { DateTime, NameText, Nullable, StoredText } from '../../core/typebox.ts'

const TITLE_MAX = 400
const CONTENT_MAX = 256 * 1024
const TAG_MAX = 200
const TAGS_MAX = 200

export const UserNoteSchema = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  content: Type.String({ description: 'Markdown' }),
  is_public: Type.Boolean(),
  tags: Nullable(Type.Array(Type.String())),
  created_at: DateTime,
  updated_at: DateTime,
  user_id: Type.Integer(),
  username: Type.String(),
  user_avatar_path: Type.String(),
  user_updated_at: Nullable(DateTime)
}, { title: 'UserNote' })
export type UserNoteView = Static<typeof UserNoteSchema>

const Title = NameText({ minLength: 1, maxLength: TITLE_MAX, description: 'Unique among your notes about the ROM' })
const Content = StoredText({ maxLength: CONTENT_MAX, description: 'Markdown' })
const Tags = Nullable(Type.Array(StoredText({ maxLength: TAG_MAX }), { maxItems: TAGS_MAX }))

export const NewNoteSchema = Type.Object({
  title: Title,
  content: Type.Optional(Content),
  is_public: Type.Optional(Type.Boolean({ description: 'True if everybody who sees the ROM may read it' })),
  tags: Type.Optional(Tags)
}, { title: 'NewNote' })
export const NoteChangeSchema = Type.Partial(NewNoteSchema, { title: 'NoteChange' })
export type NewNote = Static<typeof NewNoteSchema>
export type NoteChange = Static<typeof NoteChangeSchema>

export const ListNotesQuery = Type.Object({
  public_only: Type.Boolean({ default: false, description: 'Lists only public notes; otherwise also your own' }),
  search: Type.Optional(StoredText({ maxLength: TITLE_MAX, description: 'Text in the title or the content' })),
  tags: Type.Array(StoredText({ maxLength: TAG_MAX }), { default: [], maxItems: TAGS_MAX, description: 'Notes with all of these tags' })
})
export type ListNotesQuery = Static<typeof ListNotesQuery>
