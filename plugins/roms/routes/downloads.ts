import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RouteAccess } from '../../../core/access/auth.ts'
import { contextOf } from '../../../core/access/context.ts'
import { readBoolean } from '../../../core/config/boolean-words.ts'
import { badRequest } from '../../../core/errors.ts'
import { ErrorSchema, type Routes, bytesOf, idOf } from '../../../core/typebox.ts'
import { SHOWN_TYPES } from '../../resources/media-types.ts'
import { ScopeQuery } from '../filters/list-query.ts'
import { type Download, readIdList } from '../downloads/downloads.ts'

const tags = ['roms']
const open: RouteAccess = { scopes: ['roms.read'], download: true }
const ZIP = bytesOf('application/zip')
const FILE_OR_ZIP = bytesOf('application/octet-stream', 'application/zip')
const FILE = bytesOf('application/octet-stream', ...SHOWN_TYPES)
const CACHE_CONTROL = 'private, no-cache'

const ContentParams = Type.Object({ id: idOf('a ROM'), file_name: Type.String({ description: 'Name of the zip; it selects no file' }) })
const ContentQuery = Type.Object({
  file_ids: Type.String({ default: '', description: 'Ids of the files, separated by commas; default: all files' }),
  hidden_folder: Type.String({ default: '', description: '`true` puts all files below `.hidden/`' })
})
const FileContentParams = Type.Object({ file_id: idOf('a file of a ROM'), file_name: Type.String({ description: 'Any name' }) })
const ManyQuery = Type.Object({
  rom_ids: Type.Optional(Type.String({ description: 'Ids separated by commas' })),
  ...Type.Omit(ScopeQuery, ['platform_ids', 'library_ids']).properties,
  filename: Type.String({ default: '', maxLength: 255, description: 'Name of the zip' })
})

const routes: Routes = async (app) => {
  /**
   * Reads the selection of ROMs.
   *
   * @throws ApiError BAD_REQUEST if nothing is selected.
   */
  async function readSelector (
    request: FastifyRequest, { rom_ids: romIds = '', filename: _name, ...scope }: Static<typeof ManyQuery>
  ): Promise<{ platformId: number } | { romIds: number[] }> {
    const { platform_id: platformId, ...collections } = scope
    if (platformId !== undefined) return { platformId }
    if (Object.keys(collections).length > 0) {
      const query = { platform_ids: [], library_ids: [], ...collections }
      return { romIds: await app.roms.listScope(contextOf(request), query) }
    }
    if (romIds === '') throw badRequest('The request names nothing to download; send rom_ids, platform_id, or the id of a collection')
    return { romIds: readIdList('rom_ids', romIds) }
  }

  /** Sends a download. The server owns the stream and destroys it when the client disconnects. */
  async function sendDownload (request: FastifyRequest, reply: FastifyReply, download: Download) {
    if (download.kind === 'file') {
      const { handle, type, disposition } = download
      return await app.files.send(request, reply, { handle, type, disposition, cacheControl: CACHE_CONTROL })
    }
    const { fileName, zip: { size, etag, read } } = download
    return app.files.sendContent(request, reply, {
      size,
      read,
      // No date, because the newest date of many files stays the same when an older file is added.
      validators: { etag },
      type: 'application/zip',
      disposition: { type: 'attachment', fileName },
      cacheControl: CACHE_CONTROL
    })
  }

  for (const method of ['HEAD', 'GET'] as const) {
    app.route({
      method,
      url: '/api/roms/download',
      exposeHeadRoute: false,
      schema: {
        operationId: method === 'GET' ? 'downloadRoms' : 'headRomsDownload',
        tags,
        summary: 'Download a zip of several ROMs',
        querystring: ManyQuery,
        response: { 200: ZIP, 206: ZIP, 400: ErrorSchema }
      },
      config: { scopes: ['roms.read'] },
      handler: async (request, reply) => {
        const download = await app.downloads.openMany(
          contextOf(request), await readSelector(request, request.query), request.query.filename)
        return await sendDownload(request, reply, download)
      }
    })

    app.route({
      method,
      url: '/api/roms/:id/content/:file_name',
      exposeHeadRoute: false,
      schema: {
        operationId: method === 'GET' ? 'getRomContent' : 'headRomContent',
        tags,
        summary: 'Download the file of a ROM, or a zip of its files',
        params: ContentParams,
        querystring: ContentQuery,
        response: { 200: FILE_OR_ZIP, 206: FILE_OR_ZIP, 400: ErrorSchema }
      },
      config: open,
      handler: async (request, reply) => {
        const { id, file_name: name } = request.params
        const download = await app.downloads.openRom(await app.permissions.publicContextOf(request), id, name, {
          fileIds: readIdList('file_ids', request.query.file_ids),
          isHidden: readBoolean(request.query.hidden_folder) === true
        })
        return await sendDownload(request, reply, download)
      }
    })

    app.route({
      method,
      url: '/api/roms/:file_id/files/content/:file_name',
      exposeHeadRoute: false,
      schema: {
        operationId: method === 'GET' ? 'getRomFileContent' : 'headRomFileContent',
        tags,
        summary: 'Download a file of a ROM by its id',
        params: FileContentParams,
        response: { 200: FILE, 206: FILE }
      },
      config: open,
      handler: async (request, reply) => {
        const context = await app.permissions.publicContextOf(request)
        const download = await app.downloads.openFile(context, request.params.file_id)
        return await sendDownload(request, reply, download)
      }
    })
  }
}

export default routes
