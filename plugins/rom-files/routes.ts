import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { contextOf } from '../../core/access/context.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { EmptyBody, ErrorSchema, IdParams, idOf } from '../../core/typebox.ts'
import { DetailedRomSchema } from '../roms/schemas.ts'
import { romSerializer } from '../roms/views.ts'
import { addFile } from './add-file.ts'
import { type FileKind, MANUAL, SCREENSHOT, SOUNDTRACK } from './kinds.ts'
import { addManual, refetchManual, removeManual } from './manuals.ts'
import { removeAnyFile, removeFileOfKind } from './remove-file.ts'
import { selectFilesOf } from './rows.ts'
import { NamedFileForm, SoundtrackTrackMetaSchema, UploadHeaders } from './schemas.ts'
import type { RomFileServices } from './services.ts'
import { findTarget } from './target-rom.ts'
import { convertToFolder } from './to-folder.ts'
import { toTrackView } from './views.ts'

const tags = ['roms']
const writes = { scopes: ['roms.write'] as const }
const FileParams = Type.Object({ id: idOf('a ROM'), file_id: idOf('a file of a ROM') })
const ADDED = {
  201: EmptyBody, 400: ErrorSchema, 404: ErrorSchema, 409: ErrorSchema, 503: ErrorSchema, 507: ErrorSchema
}
const deletes = { ...writes, grant: ['roms', 'delete'] as const, audit: 'rom_file.deleted' as const }
const AnyFileParams = Type.Object({ rom_id: idOf('a ROM'), file_id: idOf('a file of a ROM') })
const REMOVED = { 200: EmptyBody, 404: ErrorSchema, 409: ErrorSchema, 503: ErrorSchema }
const consumes = ['multipart/form-data', 'application/octet-stream']

/** Kinds stored in the ROM's own folder, by their part of the path. */
const KINDS: readonly { path: string, kind: FileKind, noun: string, words: string }[] = [
  { path: 'manuals/files', kind: MANUAL, noun: 'ManualFile', words: 'a manual' },
  { path: 'screenshots', kind: SCREENSHOT, noun: 'Screenshot', words: 'a screenshot' },
  { path: 'soundtracks', kind: SOUNDTRACK, noun: 'Soundtrack', words: 'a piece of music' }
]

const routes: FeatureRoutes<RomFileServices> = async (app, _options, services) => {
  // A body that is not a form is the file itself, of any type.
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser('*', (_request: FastifyRequest, payload, done) => { done(null, payload) })

  app.post('/api/roms/:id/manuals', {
    schema: {
      operationId: 'addRomManual', tags, summary: 'Store a manual for a ROM outside of the library', consumes,
      description: 'Replacing a former manual needs the grant to delete ROMs.', form: NamedFileForm,
      params: IdParams, headers: UploadHeaders, response: ADDED
    },
    config: writes
  }, async (request, reply) => {
    await addManual(services, request, request.params.id)
    reply.code(201)
  })

  app.delete('/api/roms/:id/manuals', {
    schema: {
      operationId: 'deleteRomManual', tags, summary: 'Delete the manual outside of the library',
      description: 'Deletes the manual at once, without the trash.', params: IdParams, response: REMOVED
    },
    config: deletes
  }, async (request) => { await removeManual(services, contextOf(request), request.params.id) })

  app.post('/api/roms/:id/manuals/redownload', {
    schema: {
      operationId: 'refetchRomManual', tags, summary: 'Download the manual from its address again', params: IdParams,
      response: { 200: EmptyBody, 400: ErrorSchema, 404: ErrorSchema, 503: ErrorSchema }
    },
    config: writes
  }, async (request) => { await refetchManual(services, contextOf(request), request.params.id) })

  app.get('/api/roms/:id/soundtracks/metadata', {
    schema: {
      operationId: 'listRomTracks', tags, summary: 'List the tags of the music of a ROM, by file name', params: IdParams,
      response: { 200: Type.Array(SoundtrackTrackMetaSchema), 404: ErrorSchema }
    },
    config: { scopes: ['roms.read'] }
  }, async (request) => {
    const { id } = await findTarget(contextOf(request), request.params.id)
    const tracks = await selectFilesOf(request.db, id, SOUNDTRACK.category)
    return tracks.map((row) => toTrackView(row, app.resources.marked))
  })

  app.post('/api/roms/:id/convert-to-folder', {
    schema: {
      operationId: 'convertRomToFolder',
      tags,
      summary: 'Move a ROM that is one file to its own folder',
      description: 'The folder has the name of the file without its extension. Any other ROM stays unchanged.',
      params: IdParams,
      response: { 200: DetailedRomSchema, 400: ErrorSchema, 404: ErrorSchema, 409: ErrorSchema, 503: ErrorSchema }
    },
    serializerCompiler: romSerializer,
    config: writes
  }, async (request) => await convertToFolder(app, contextOf(request), request.params.id))

  app.delete('/api/roms/:rom_id/files/:file_id', {
    schema: {
      operationId: 'deleteRomFile',
      tags,
      summary: 'Delete one file of a ROM',
      description: 'The file goes to the trash of the library, and `restoreTrash` restores it. A ROM without any file is missing.',
      params: AnyFileParams,
      querystring: Type.Object({
        permanently: Type.Boolean({ default: false, description: 'True to delete the file at once, without the trash' })
      }),
      response: REMOVED
    },
    config: deletes
  }, async (request) => {
    await removeAnyFile(services, contextOf(request), request.params, request.query.permanently)
  })

  for (const { path, kind, noun, words } of KINDS) {
    app.post(`/api/roms/:id/${path}`, {
      schema: {
        operationId: `addRom${noun}`, tags, summary: `Add ${words} to the folder of a ROM`, consumes, form: NamedFileForm,
        description: `The name of the file must end in one of .${kind.extensions.join(', .')}. A ROM that is one file gets a folder. ` +
          'A file of the same name goes to the trash, which needs the grant to delete ROMs.',
        params: IdParams, headers: UploadHeaders, response: ADDED
      },
      config: writes
    }, async (request, reply) => {
      await addFile(services, request, request.params.id, kind)
      reply.code(201)
    })

    app.delete(`/api/roms/:id/${path}/:file_id`, {
      schema: {
        operationId: `deleteRom${noun}`, tags, summary: `Delete ${words} from the folder of a ROM`, params: FileParams, response: REMOVED
      },
      config: deletes
    }, async (request) => {
      await removeFileOfKind(services, contextOf(request), request.params, kind)
    })
  }
}

export default routes
