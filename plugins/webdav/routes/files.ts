import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, IdParams, type Routes } from '../../../core/typebox.ts'
import { AssignBody, UnassignedFileSchema, WebdavFileSchema } from '../schemas.ts'
import type { Webdav } from '../service.ts'
import { toFileView, toUnassignedView } from '../views.ts'

const tags = ['webdav']

/** The files of a user as the API shows them. */
export default (webdav: Webdav): Routes => async (app) => {
  app.get('/api/webdav/files', {
    schema: {
      operationId: 'listWebdavFiles', tags, summary: 'List your files that devices sync through WebDAV', response: { 200: Type.Array(WebdavFileSchema) }
    },
    config: { scopes: ['assets.read'] }
  }, async (request) => (await webdav.listAll(contextOf(request))).map(toFileView))

  app.get('/api/webdav/files/unassigned', {
    schema: {
      operationId: 'listUnassignedWebdavFiles', tags, summary: 'List your saves and states whose game is unknown', response: { 200: Type.Array(UnassignedFileSchema) }
    },
    config: { scopes: ['assets.read', 'roms.read'] }
  }, async (request) => (await webdav.listUnassigned(contextOf(request))).map(toUnassignedView))

  app.put('/api/webdav/files/:id/rom', {
    schema: {
      operationId: 'assignWebdavFile',
      tags,
      summary: 'Set the game of a save or state',
      description: 'If the game already has the same save from another app, your file is kept as a conflict copy of it.',
      params: IdParams,
      body: AssignBody,
      response: { 200: WebdavFileSchema, 404: ErrorSchema, 409: ErrorSchema }
    },
    config: { scopes: ['assets.write'] }
  }, async (request) => toFileView(await webdav.assign(contextOf(request), request.params.id, request.body.rom_id)))

  app.post('/api/webdav/files/:id/restore', {
    schema: {
      operationId: 'restoreWebdavFile', tags, summary: 'Restore a file that was deleted on a device', params: IdParams,
      response: { 200: WebdavFileSchema, 404: ErrorSchema }
    },
    config: { scopes: ['assets.write'] }
  }, async (request) => toFileView(await webdav.restore(contextOf(request), request.params.id)))
}
