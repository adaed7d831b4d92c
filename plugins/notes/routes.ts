import { Type } from '@sinclair/typebox'
import type { RouteAccess } from '../../core/access/auth.ts'
import { contextOf } from '../../core/access/context.ts'
import { ErrorSchema, IdParams, type Routes, idOf } from '../../core/typebox.ts'
import { ListNotesQuery, NewNoteSchema, NoteChangeSchema, UserNoteSchema } from './schemas.ts'

const tags = ['roms']
const reads: RouteAccess = { scopes: ['roms.read'] }
const writes: RouteAccess = { scopes: ['roms.user.write'] }
const NoteParams = Type.Object({ id: idOf('a ROM'), note_id: idOf('a note') })

const routes: Routes = async (app) => {
  app.get('/api/roms/:id/notes', {
    schema: {
      operationId: 'listRomNotes', tags, summary: 'List your notes about a ROM and public ones, latest change first',
      params: IdParams, querystring: ListNotesQuery, response: { 200: Type.Array(UserNoteSchema), 404: ErrorSchema }
    },
    config: reads
  }, async (request) => app.notes.list(contextOf(request), request.params.id, request.query))

  app.get('/api/roms/:id/notes/identifiers', {
    schema: {
      operationId: 'listRomNoteIds', tags, summary: 'List the ids of your notes about a ROM and of public ones', params: IdParams,
      response: { 200: Type.Array(Type.Integer()), 404: ErrorSchema }
    },
    config: reads
  }, async (request) => app.notes.listIds(contextOf(request), request.params.id))

  app.post('/api/roms/:id/notes', {
    schema: {
      operationId: 'addRomNote', tags, summary: 'Write a note about a ROM', params: IdParams, body: NewNoteSchema,
      response: { 200: UserNoteSchema, 404: ErrorSchema, 409: ErrorSchema }
    },
    config: writes
  }, async (request) => app.notes.add(contextOf(request), request.params.id, request.body))

  app.put('/api/roms/:id/notes/:note_id', {
    schema: {
      operationId: 'updateRomNote', tags, summary: 'Change one of your notes', params: NoteParams, body: NoteChangeSchema,
      response: { 200: UserNoteSchema, 404: ErrorSchema, 409: ErrorSchema }
    },
    config: writes
  }, async (request) => {
    const { params: { id, note_id: noteId }, body } = request
    return await app.notes.change(contextOf(request), id, noteId, body)
  })

  app.delete('/api/roms/:id/notes/:note_id', {
    schema: {
      operationId: 'deleteRomNote', tags, summary: 'Delete one of your notes', params: NoteParams,
      response: { 200: Type.Object({ message: Type.String() }), 404: ErrorSchema }
    },
    config: writes
  }, async (request) => {
    await app.notes.delete(contextOf(request), request.params.id, request.params.note_id)
    return { message: 'Note deleted successfully' }
  })
}

export default routes
