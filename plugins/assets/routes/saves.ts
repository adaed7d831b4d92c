import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, IdParams, type Routes } from '../../../core/typebox.ts'
import { type Forms, formOf, requireFile } from '../upload-form.ts'
import {
  DeleteSavesBody, DeviceBody, DownloadedBody, ListSavesQuery, ReplaceQuery, SaveChangeForm, SaveForm, SaveQuery,
  SaveSchema, SaveSummarySchema, SaveUploadQuery, SummaryQuery, UploadConflictSchema, VisibilityBody
} from '../schemas.ts'

const tags = ['saves']
const reads = { scopes: ['assets.read'] as const }
const writes = { scopes: ['assets.write'] as const }
const syncs = { scopes: ['devices.write'] as const }
const forms = ['multipart/form-data']
const REFUSALS = { 400: ErrorSchema, 404: ErrorSchema, 409: UploadConflictSchema, 413: ErrorSchema, 507: ErrorSchema }

/** The saves of the caller. */
const createSaveRoutes = ({ read }: Forms): Routes => async (app) => {
  const { assets } = app

  app.post('/api/saves', {
    schema: {
      operationId: 'addSave',
      tags,
      summary: 'Upload a save',
      description: 'A form with the parts `saveFile` and, if there is a picture, `screenshotFile`. Query parameters may ' +
        'also be sent as form fields.',
      consumes: forms,
      form: SaveForm,
      querystring: SaveUploadQuery,
      response: { 200: SaveSchema, ...REFUSALS }
    },
    preValidation: read,
    config: writes
  }, async (request) => {
    const { query } = request
    const form = formOf(request)
    const main = requireFile(form.main('saveFile'), 'saveFile')
    const id = await assets.upload(contextOf(request), 'save', query, { main, screenshot: form.file('screenshotFile') })
    return await assets.viewUploadedSave(contextOf(request), id, query.device_id)
  })

  app.get('/api/saves', {
    schema: { operationId: 'listSaves', tags, summary: 'List your saves, newest first', querystring: ListSavesQuery, response: { 200: Type.Array(SaveSchema) } },
    config: reads
  }, async (request) => await assets.listSaves(contextOf(request), request.query))

  app.get('/api/saves/identifiers', {
    schema: { operationId: 'listSaveIds', tags, summary: 'List the ids of your saves', response: { 200: Type.Array(Type.Integer()) } },
    config: reads
  }, async (request) => await assets.listIds(contextOf(request), 'save'))

  app.get('/api/saves/summary', {
    schema: { operationId: 'getSaveSummary', tags, summary: 'List your saves of a ROM by slot', querystring: SummaryQuery, response: { 200: SaveSummarySchema } },
    config: reads
  }, async (request) => await assets.summarize(contextOf(request), request.query.rom_id))

  app.get('/api/saves/deleted', {
    schema: { operationId: 'listDeletedSaves', tags, summary: 'List saves that can be restored', response: { 200: Type.Array(SaveSchema) } },
    config: reads
  }, async (request) => await assets.listDeletedSaves(contextOf(request)))

  app.get('/api/saves/:id', {
    schema: { operationId: 'getSave', tags, summary: 'Get one of your saves', params: IdParams, querystring: SaveQuery, response: { 200: SaveSchema } },
    config: reads
  }, async (request) => await assets.viewSave(contextOf(request), request.params.id,
    { reference: request.query.device_id, scope: 'devices.read' }))

  app.put('/api/saves/:id', {
    schema: {
      operationId: 'updateSave',
      tags,
      summary: 'Replace the content of a save, or its picture',
      description: 'A form with the parts `saveFile` and `screenshotFile`, or one of them. The former content is kept as a version.',
      consumes: forms,
      form: SaveChangeForm,
      params: IdParams,
      querystring: ReplaceQuery,
      response: { 200: SaveSchema, ...REFUSALS }
    },
    preValidation: read,
    config: writes
  }, async (request) => {
    const { query, params: { id } } = request
    const form = formOf(request)
    const files = { main: form.main('saveFile'), screenshot: form.file('screenshotFile') }
    await assets.changes.replace(contextOf(request), { kind: 'save', id }, query, files)
    return await assets.viewSave(contextOf(request), id, { reference: query.device_id, scope: 'devices.write' })
  })

  app.put('/api/saves/:id/visibility', {
    schema: {
      operationId: 'updateSaveVisibility', tags, summary: 'Make a save public or private',
      params: IdParams, body: VisibilityBody, response: { 200: SaveSchema }
    },
    config: writes
  }, async (request) => {
    await assets.changes.setPublic(contextOf(request), { kind: 'save', id: request.params.id }, request.body.is_public)
    return await assets.viewSave(contextOf(request), request.params.id, { reference: undefined, scope: 'devices.read' })
  })

  app.post('/api/saves/delete', {
    schema: {
      operationId: 'deleteSaves', tags, summary: 'Delete saves; they can be restored for a while',
      body: DeleteSavesBody, response: { 200: Type.Array(Type.Integer()), 400: ErrorSchema, 404: ErrorSchema }
    },
    config: { ...writes, audit: 'save.deleted' }
  }, async (request) => {
    await assets.changes.delete(contextOf(request), 'save', request.body.saves)
    return request.body.saves
  })

  app.post('/api/saves/:id/downloaded', {
    schema: {
      operationId: 'confirmSaveDownload', tags, summary: 'Confirm that a device holds a save', params: IdParams,
      body: DownloadedBody, response: { 200: SaveSchema, 400: ErrorSchema, 404: ErrorSchema, 409: ErrorSchema }
    },
    config: syncs
  }, async (request) => {
    const { body, params: { id } } = request
    const device = await assets.changes.confirm(contextOf(request), { kind: 'save', id }, body)
    return await assets.viewSave(contextOf(request), id, { reference: device.id, scope: 'devices.write' })
  })

  for (const [name, isTracked, summary] of [
    ['track', true, 'Let a device sync a save again'], ['untrack', false, 'Stop a device from syncing a save']
  ] as const) {
    app.post(`/api/saves/:id/${name}`, {
      schema: {
        operationId: `${name}Save`, tags, summary, params: IdParams, body: DeviceBody,
        response: { 200: SaveSchema, 400: ErrorSchema, 404: ErrorSchema }
      },
      config: syncs
    }, async (request) => {
      const { body, params: { id } } = request
      const device = await assets.track(contextOf(request), id, body.device_id, isTracked)
      return await assets.viewSave(contextOf(request), id, { reference: device.id, scope: 'devices.write' })
    })
  }
}

export default createSaveRoutes
