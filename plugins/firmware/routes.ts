import { Type } from '@sinclair/typebox'
import type { RouteAccess } from '../../core/access/auth.ts'
import { contextOf } from '../../core/access/context.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { ErrorSchema, bytesOf } from '../../core/typebox.ts'
import { SHOWN_TYPES } from '../resources/media-types.ts'
import { deleteFromList } from './delete-firmware.ts'
import { findFirmware, listFirmware, openFirmware } from './read-firmware.ts'
import { selectFirmwareIds } from './rows.ts'
import {
  BulkResultSchema, DeleteFirmwareSchema, FirmwareContentParams, FirmwareForm, FirmwareParams, FirmwareSchema,
  FirmwareUploadSchema, ListFirmwareQuery, PlatformQuery
} from './schemas.ts'
import type { FirmwareServices } from './services.ts'
import { uploadFirmware } from './upload-firmware.ts'
import { toFirmwareView } from './views.ts'

const tags = ['firmware']
const reads = { scopes: ['firmware.read'] as const }
const open: RouteAccess = { ...reads, download: true }
const writes = { scopes: ['firmware.write'] as const }
const FILE = bytesOf('application/octet-stream', ...SHOWN_TYPES)

const routes: FeatureRoutes<FirmwareServices> = async (app, _options, services) => {
  app.post('/api/firmware', {
    schema: {
      operationId: 'addFirmware',
      tags,
      summary: "Upload files to a platform's firmware folder",
      description: 'A form with one or more parts `files`. A file of the same name is replaced, which needs the grant to delete firmware. `is_verified` is true for ' +
        'files that equal a known good dump.',
      consumes: ['multipart/form-data'],
      form: FirmwareForm,
      querystring: PlatformQuery,
      response: {
        200: FirmwareUploadSchema, 400: ErrorSchema, 404: ErrorSchema, 409: ErrorSchema, 413: ErrorSchema,
        507: ErrorSchema
      }
    },
    config: writes
  }, async (request) => await uploadFirmware(services, request, request.query.platform_id))

  app.get('/api/firmware', {
    schema: {
      operationId: 'listFirmware', tags, summary: 'List firmware by file name, of one platform or of all',
      querystring: ListFirmwareQuery, response: { 200: Type.Array(FirmwareSchema) }
    },
    config: reads
  }, async (request) => await listFirmware(services, contextOf(request), request.query.platform_id))

  app.get('/api/firmware/identifiers', {
    schema: {
      operationId: 'listFirmwareIds', tags, summary: 'List the ids of all firmware', response: { 200: Type.Array(Type.Integer()) }
    },
    config: reads
  }, async (request) => {
    const { db, caller } = contextOf(request)
    return await selectFirmwareIds(db, services.isVisible(caller))
  })

  app.get('/api/firmware/:id', {
    schema: {
      operationId: 'getFirmware', tags, summary: 'Get the data of a firmware file', params: FirmwareParams,
      response: { 200: FirmwareSchema, 404: ErrorSchema }
    },
    config: open
  }, async (request) => {
    const context = await app.permissions.publicContextOf(request)
    return toFirmwareView(await findFirmware(services, context, request.params.id))
  })

  for (const method of ['HEAD', 'GET'] as const) {
    app.route({
      method,
      url: '/api/firmware/:id/content/:file_name',
      exposeHeadRoute: false,
      schema: {
        operationId: method === 'GET' ? 'getFirmwareContent' : 'headFirmwareContent',
        tags,
        summary: 'Download a firmware file, or a range of it',
        params: FirmwareContentParams,
        response: { 200: FILE, 206: FILE, 404: ErrorSchema }
      },
      config: open,
      handler: async (request, reply) => {
        const context = await app.permissions.publicContextOf(request)
        const { handle, fileName } = await openFirmware(services, context, request.params.id)
        return await app.files.send(request, reply, {
          handle,
          type: app.files.mediaTypeOf(fileName) ?? 'application/octet-stream',
          cacheControl: 'private, no-cache',
          disposition: { type: 'attachment', fileName: method === 'HEAD' ? request.params.file_name : fileName }
        })
      }
    })
  }

  app.post('/api/firmware/delete', {
    schema: {
      operationId: 'deleteFirmware',
      tags,
      summary: 'Delete firmware from the list, and its files on request',
      description: 'Answers 200 also when some could not be deleted. Firmware whose file was already gone counts as ' +
        'failed, although it is deleted from the list.',
      body: DeleteFirmwareSchema,
      response: { 200: BulkResultSchema }
    },
    config: { ...writes, grant: ['firmware', 'delete'], audit: 'firmware.deleted' }
  }, async (request) => await deleteFromList(services, contextOf(request), request.body))
}

export default routes
