import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, IdParams, type Routes } from '../../../core/typebox.ts'
import { type Forms, formOf, requireFile } from '../upload-form.ts'
import {
  DeleteStatesBody, DownloadedBody, ListStatesQuery, ReplaceQuery, StateChangeForm, StateForm, StateSchema,
  StateUploadQuery, UploadConflictSchema, VisibilityBody
} from '../schemas.ts'

const tags = ['states']
const reads = { scopes: ['assets.read'] as const }
const writes = { scopes: ['assets.write'] as const }
const forms = ['multipart/form-data']
const REFUSALS = { 400: ErrorSchema, 404: ErrorSchema, 409: UploadConflictSchema, 413: ErrorSchema, 507: ErrorSchema }

/** The states of the caller. */
const createStateRoutes = ({ read }: Forms): Routes => async (app) => {
  const { assets } = app

  app.post('/api/states', {
    schema: {
      operationId: 'addState',
      tags,
      summary: 'Upload a state',
      description: 'A form with the parts `stateFile` and, if there is a picture, `screenshotFile`. Query parameters may ' +
        'also be sent as form fields.',
      consumes: forms,
      form: StateForm,
      querystring: StateUploadQuery,
      response: { 200: StateSchema, ...REFUSALS }
    },
    preValidation: read,
    config: writes
  }, async (request) => {
    const form = formOf(request)
    const main = requireFile(form.main('stateFile'), 'stateFile')
    const id = await assets.upload(contextOf(request), 'state', request.query, { main, screenshot: form.file('screenshotFile') })
    return await assets.viewState(contextOf(request), id)
  })

  app.get('/api/states', {
    schema: { operationId: 'listStates', tags, summary: 'List your states, newest first', querystring: ListStatesQuery, response: { 200: Type.Array(StateSchema) } },
    config: reads
  }, async (request) => await assets.listStates(contextOf(request), request.query))

  app.get('/api/states/identifiers', {
    schema: { operationId: 'listStateIds', tags, summary: 'List the ids of your states', response: { 200: Type.Array(Type.Integer()) } },
    config: reads
  }, async (request) => await assets.listIds(contextOf(request), 'state'))

  app.get('/api/states/deleted', {
    schema: { operationId: 'listDeletedStates', tags, summary: 'List states that can be restored', response: { 200: Type.Array(StateSchema) } },
    config: reads
  }, async (request) => await assets.listDeletedStates(contextOf(request)))

  app.get('/api/states/:id', {
    schema: { operationId: 'getState', tags, summary: 'Get one of your states', params: IdParams, response: { 200: StateSchema } },
    config: reads
  }, async (request) => await assets.viewState(contextOf(request), request.params.id))

  app.put('/api/states/:id', {
    schema: {
      operationId: 'updateState',
      tags,
      summary: 'Replace the content of a state, or its picture',
      description: 'A form with the parts `stateFile` and `screenshotFile`, or one of them. The former content is kept as a version.',
      consumes: forms,
      form: StateChangeForm,
      params: IdParams,
      querystring: ReplaceQuery,
      response: { 200: StateSchema, ...REFUSALS }
    },
    preValidation: read,
    config: writes
  }, async (request) => {
    const form = formOf(request)
    const files = { main: form.main('stateFile'), screenshot: form.file('screenshotFile') }
    await assets.changes.replace(contextOf(request), { kind: 'state', id: request.params.id }, request.query, files)
    return await assets.viewState(contextOf(request), request.params.id)
  })

  app.put('/api/states/:id/visibility', {
    schema: {
      operationId: 'updateStateVisibility', tags, summary: 'Make a state public or private',
      params: IdParams, body: VisibilityBody, response: { 200: StateSchema }
    },
    config: writes
  }, async (request) => {
    await assets.changes.setPublic(contextOf(request), { kind: 'state', id: request.params.id }, request.body.is_public)
    return await assets.viewState(contextOf(request), request.params.id)
  })

  app.post('/api/states/delete', {
    schema: {
      operationId: 'deleteStates', tags, summary: 'Delete states; they can be restored for a while',
      body: DeleteStatesBody, response: { 200: Type.Array(Type.Integer()), 400: ErrorSchema, 404: ErrorSchema }
    },
    config: { ...writes, audit: 'state.deleted' }
  }, async (request) => {
    await assets.changes.delete(contextOf(request), 'state', request.body.states)
    return request.body.states
  })

  app.post('/api/states/:id/downloaded', {
    schema: {
      operationId: 'confirmStateDownload', tags, summary: 'Confirm that a device holds a state', params: IdParams,
      body: DownloadedBody, response: { 200: StateSchema, 400: ErrorSchema, 404: ErrorSchema, 409: ErrorSchema }
    },
    config: { scopes: ['devices.write'] }
  }, async (request) => {
    await assets.changes.confirm(contextOf(request), { kind: 'state', id: request.params.id }, request.body)
    return await assets.viewState(contextOf(request), request.params.id)
  })
}

export default createStateRoutes
