import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { escapeLike, selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { QuotaUse } from '../users/quota.ts'
import type { ListNotesQuery, NewNote, NoteChange } from './schemas.ts'

/** A note with its author. Times are milliseconds since 1970. */
export interface NoteRow {
  id: number
  title: string
  content: string
  is_public: boolean
  tags: string[] | null
  created_at: number
  updated_at: number
  user_id: number
  username: string
  user_avatar_path: string
  user_updated_at: number
}

const COLUMNS = sql`n.id, n.title, n.content, n.is_public, n.tags, ${selectMilliseconds('n.created_at')} as created_at,
  ${selectMilliseconds('n.updated_at')} as updated_at, n.user_id, w.username, w.avatar_path as user_avatar_path,
  ${selectMilliseconds('w.updated_at')} as user_updated_at`

/** The condition that a user may read a note `n`, if the ROM is visible. */
export const isReadable = (userId: number | null): RawBuilder<boolean> =>
  sql<boolean>`(n.is_public or n.user_id = ${userId ?? -1})`

const contains = (text: string) => `%${escapeLike(text)}%`

function listConditions (caller: AnyCaller, romId: number, query: Partial<ListNotesQuery>): RawBuilder<unknown> {
  const { public_only: isPublicOnly = false, search = '', tags = [] } = query
  const conditions = [
    sql`n.rom_id = ${romId}`,
    isPublicOnly ? sql`n.is_public` : isReadable(caller?.id ?? null),
    ...(search === '' ? [] : [sql`(n.title ilike ${contains(search)} or n.content ilike ${contains(search)})`]),
    ...(tags.length === 0 ? [] : [sql`n.tags @> ${tags}::text[]`])
  ]
  return sql.join(conditions, sql` and `)
}

/** Loads the notes of a ROM that a caller may read, latest change first. */
export async function selectNotes (
  { db, caller }: Context<AnyCaller>, romId: number, query: Partial<ListNotesQuery> = {}
): Promise<NoteRow[]> {
  const { rows } = await sql<NoteRow>`select ${COLUMNS} from notes n join users w on w.id = n.user_id
    where ${listConditions(caller, romId, query)} order by n.updated_at desc, n.id desc`.execute(db)
  return rows
}

export async function selectNoteIds ({ db, caller }: Context<AnyCaller>, romId: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select n.id from notes n where ${listConditions(caller, romId, {})}
    order by n.updated_at desc, n.id desc`.execute(db)
  return rows.map(({ id }) => id)
}

/** Inserts a note and returns its id; null if the title is taken. */
export async function insertNote (
  db: Db, userId: number, romId: number, { title, content = '', is_public: isPublic = false, tags = [] }: NewNote
): Promise<number | null> {
  const { rows } = await sql<{ id: number }>`insert into notes (rom_id, user_id, title, content, is_public, tags)
    values (${romId}, ${userId}, ${title}, ${content}, ${isPublic}, ${tags}::text[])
    on conflict (rom_id, user_id, title) do nothing returning id`.execute(db)
  return rows[0]?.id ?? null
}

/** Measures all notes of a user about a ROM. */
export async function measureNotes (
  db: Db, userId: number, romId: number
): Promise<QuotaUse> {
  const { rows: [size] } = await sql<QuotaUse>`select count(*)::int as count,
      coalesce(sum(length(title) + length(content) + length(coalesce(array_to_string(tags, ''), ''))), 0)::float8 as characters
    from notes where user_id = ${userId} and rom_id = ${romId}`.execute(db)
  return size ?? { count: 0, characters: 0 }
}

/** A note to change. `is_taken` is true if another note of its author about the ROM has the new title. */
interface OwnNote { is_public: boolean, is_taken: boolean }

/** Finds a note of the caller about a ROM and locks it. */
export async function findOwnNote (
  { db, caller }: Context, romId: number, noteId: number, title: string | undefined
): Promise<OwnNote | null> {
  const { rows } = await sql<OwnNote>`select n.is_public, exists (select 1 from notes o where o.rom_id = n.rom_id
      and o.user_id = n.user_id and o.title = ${title ?? null}::text and o.id <> n.id) as is_taken
    from notes n where n.id = ${noteId} and n.rom_id = ${romId} and n.user_id = ${caller.id} for update of n`.execute(db)
  return rows[0] ?? null
}

/** Updates the given fields. */
export async function updateNote (db: Db, noteId: number, change: NoteChange): Promise<void> {
  const values = [
    ...(change.title === undefined ? [] : [sql`title = ${change.title}`]),
    ...(change.content === undefined ? [] : [sql`content = ${change.content}`]),
    ...(change.is_public === undefined ? [] : [sql`is_public = ${change.is_public}`]),
    ...(change.tags === undefined ? [] : [sql`tags = ${change.tags}::text[]`]),
    sql`updated_at = now()`
  ]
  await sql`update notes set ${sql.join(values)} where id = ${noteId}`.execute(db)
}

/**
 * Deletes a note.
 *
 * @returns null if it was no note of this user
 */
export async function deleteNote (
  db: Db, userId: number, romId: number, noteId: number
): Promise<Pick<NoteRow, 'is_public'> | null> {
  const { rows } = await sql<Pick<NoteRow, 'is_public'>>`delete from notes
    where id = ${noteId} and rom_id = ${romId} and user_id = ${userId} returning is_public`.execute(db)
  return rows[0] ?? null
}
