import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { conflict, notFound } from '../../core/errors.ts'
import { QUOTA_CHARACTERS, type Quota, checkQuota } from '../users/quota.ts'
import { announceNotes } from './events.ts'
import { deleteNote, findOwnNote, insertNote, measureNotes, selectNoteIds, selectNotes, updateNote } from './rows.ts'
import type { ListNotesQuery, NewNote, NoteChange, UserNoteView } from './schemas.ts'
import { toNoteView } from './views.ts'

const NOTES_MAX = 100
/** Limits one user's notes about one ROM, because the page of the ROM shows all of them to everybody. */
const QUOTA: Quota = {
  max: NOTES_MAX,
  tooMany: `You have ${NOTES_MAX} notes about this ROM already; delete one first`,
  tooLong: `Your notes about this ROM would have more than ${QUOTA_CHARACTERS} characters; shorten or delete some`,
  refuse: conflict
}

const notOwned = () => notFound('Note not found or not owned by user')
const titleTaken = (title: string | undefined) =>
  conflict(`You already have a note '${title ?? ''}' about this ROM; use another title`)

async function getNote (context: Context, romId: number, noteId: number): Promise<UserNoteView> {
  const row = (await selectNotes(context, romId)).find(({ id }) => id === noteId)
  if (row === undefined) throw notOwned()
  return toNoteView(row)
}

/** Checks the notes that a transaction has written. @throws ApiError CONFLICT if they are too many */
const checkNotes = (tx: Db, userId: number, romId: number): Promise<void> =>
  checkQuota(tx, userId, () => measureNotes(tx, userId, romId), QUOTA)

export function createNotes (app: FastifyInstance, config: Config) {
  const checkRom = (context: Context, romId: number) => app.roms.checkVisible(context, romId)
  const announce = ({ caller }: Context, romId: number, isPublic: boolean) =>
    announceNotes(app, config, { rom_id: romId, user_id: caller.id, is_public: isPublic })

  return {
    /** @throws ApiError NOT_FOUND for a ROM that is hidden or unknown; the other methods too */
    async list (context: Context, romId: number, query: ListNotesQuery): Promise<UserNoteView[]> {
      await checkRom(context, romId)
      return (await selectNotes(context, romId, query)).map(toNoteView)
    },

    async listIds (context: Context, romId: number): Promise<number[]> {
      await checkRom(context, romId)
      return await selectNoteIds(context, romId)
    },

    /** @throws ApiError CONFLICT for a title that another note of the caller about the ROM has, or beyond the limits */
    async add (context: Context, romId: number, note: NewNote): Promise<UserNoteView> {
      const { db, caller } = context
      await checkRom(context, romId)
      const id = await inTransaction(db, async (tx) => {
        const inserted = await insertNote(tx, caller.id, romId, note)
        if (inserted === null) throw titleTaken(note.title)
        await checkNotes(tx, caller.id, romId)
        return inserted
      })
      const view = await getNote(context, romId, id)
      await announce(context, romId, view.is_public)
      return view
    },

    /** @throws ApiError CONFLICT for a title that another note of the caller about the ROM has, or beyond the limits */
    async change (
      context: Context, romId: number, noteId: number, change: NoteChange
    ): Promise<UserNoteView> {
      const { db, caller } = context
      await checkRom(context, romId)
      const former = await inTransaction(db, async (tx) => {
        const note = await findOwnNote({ db: tx, caller }, romId, noteId, change.title)
        if (note === null) throw notOwned()
        if (note.is_taken) throw titleTaken(change.title)
        await updateNote(tx, noteId, change)
        await checkNotes(tx, caller.id, romId)
        return note
      })
      await announce(context, romId, former.is_public || change.is_public === true)
      return await getNote(context, romId, noteId)
    },

    async delete (context: Context, romId: number, noteId: number): Promise<void> {
      const { db, caller } = context
      await checkRom(context, romId)
      const deleted = await deleteNote(db, caller.id, romId, noteId)
      if (deleted === null) throw notOwned()
      await announce(context, romId, deleted.is_public)
    }
  }
}
