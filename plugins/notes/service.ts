import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { conflict, notFound } from '../../core/errors.ts'
import { announceNotes } from './events.ts'
import { deleteNote, findOwnNote, insertNote, selectNoteIds, selectNotes, updateNote } from './rows.ts'
import type { ListNotesQuery, NewNote, NoteChange, UserNoteView } from './schemas.ts'
import { toNoteView } from './views.ts'

const notOwned = () => notFound('Note not found or not owned by user')
const taken = (title: string | undefined) =>
  conflict(`You have a note '${title ?? ''}' about this ROM already; give another title`)

export function createNotes (app: FastifyInstance, config: Config) {
  const checkRom = (db: Db, caller: Caller, romId: number) => app.roms.checkVisible(db, caller, romId)

  async function get (db: Db, caller: Caller, romId: number, noteId: number): Promise<UserNoteView> {
    const row = (await selectNotes(db, caller, romId)).find(({ id }) => id === noteId)
    if (row === undefined) throw notOwned()
    return toNoteView(row)
  }

  return {
    /** @throws ApiError NOT_FOUND for a ROM that is hidden or unknown; the other methods too */
    async list (db: Db, caller: Caller, romId: number, query: ListNotesQuery): Promise<UserNoteView[]> {
      await checkRom(db, caller, romId)
      return (await selectNotes(db, caller, romId, query)).map(toNoteView)
    },

    async listIds (db: Db, caller: Caller, romId: number): Promise<number[]> {
      await checkRom(db, caller, romId)
      return await selectNoteIds(db, caller, romId)
    },

    /** @throws ApiError CONFLICT for a title that another note of the caller about this ROM has */
    async add (db: Db, caller: Caller, romId: number, note: NewNote): Promise<UserNoteView> {
      await checkRom(db, caller, romId)
      const id = await insertNote(db, caller.id, romId, note)
      if (id === null) throw taken(note.title)
      const view = await get(db, caller, romId, id)
      await announceNotes(app, config, romId, caller.id, view.is_public)
      return view
    },

    /** @throws ApiError CONFLICT for a title that another note of the caller about this ROM has */
    async change (
      db: Db, caller: Caller, romId: number, noteId: number, change: NoteChange
    ): Promise<UserNoteView> {
      await checkRom(db, caller, romId)
      await inTransaction(db, async (tx) => {
        const own = await findOwnNote(tx, caller.id, romId, noteId, change.title)
        if (own === null) throw notOwned()
        if (own.is_taken) throw taken(change.title)
        await updateNote(tx, noteId, change)
      })
      await announceNotes(app, config, romId, caller.id, true)
      return await get(db, caller, romId, noteId)
    },

    async delete (db: Db, caller: Caller, romId: number, noteId: number): Promise<void> {
      await checkRom(db, caller, romId)
      if (!await deleteNote(db, caller.id, romId, noteId)) throw notOwned()
      await announceNotes(app, config, romId, caller.id, true)
    }
  }
}
