import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Config } from '../../core/config/config.ts'
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
  const checkRom = (em: EntityManager, caller: Caller, romId: number) => app.roms.checkVisible(em, caller, romId)

  async function get (em: EntityManager, caller: Caller, romId: number, noteId: number): Promise<UserNoteView> {
    const row = (await selectNotes(em, caller, romId)).find(({ id }) => id === noteId)
    if (row === undefined) throw notOwned()
    return toNoteView(row)
  }

  return {
    /** @throws ApiError NOT_FOUND for a ROM that is hidden or unknown; the other methods too */
    async list (em: EntityManager, caller: Caller, romId: number, query: ListNotesQuery): Promise<UserNoteView[]> {
      await checkRom(em, caller, romId)
      return (await selectNotes(em, caller, romId, query)).map(toNoteView)
    },

    async listIds (em: EntityManager, caller: Caller, romId: number): Promise<number[]> {
      await checkRom(em, caller, romId)
      return await selectNoteIds(em, caller, romId)
    },

    /** @throws ApiError CONFLICT for a title that another note of the caller about this ROM has */
    async add (em: EntityManager, caller: Caller, romId: number, note: NewNote): Promise<UserNoteView> {
      await checkRom(em, caller, romId)
      const id = await insertNote(em, caller.id, romId, note)
      if (id === null) throw taken(note.title)
      const view = await get(em, caller, romId, id)
      await announceNotes(app, config, romId, caller.id, view.is_public)
      return view
    },

    /** @throws ApiError CONFLICT for a title that another note of the caller about this ROM has */
    async change (
      em: EntityManager, caller: Caller, romId: number, noteId: number, change: NoteChange
    ): Promise<UserNoteView> {
      await checkRom(em, caller, romId)
      await inTransaction(em, async (tx) => {
        const own = await findOwnNote(tx, caller.id, romId, noteId, change.title)
        if (own === null) throw notOwned()
        if (own.is_taken) throw taken(change.title)
        await updateNote(tx, noteId, change)
      })
      await announceNotes(app, config, romId, caller.id, true)
      return await get(em, caller, romId, noteId)
    },

    async delete (em: EntityManager, caller: Caller, romId: number, noteId: number): Promise<void> {
      await checkRom(em, caller, romId)
      if (!await deleteNote(em, caller.id, romId, noteId)) throw notOwned()
      await announceNotes(app, config, romId, caller.id, true)
    }
  }
}
