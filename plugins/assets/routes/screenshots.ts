import { contextOf } from '../../../core/access/context.ts'
import { EmptyBody, ErrorSchema, IdParams, type Routes } from '../../../core/typebox.ts'
import { type Forms, formOf, requireFile } from '../upload-form.ts'
import { ScreenshotForm, ScreenshotSchema, ScreenshotUploadQuery, VisibilityBody } from '../schemas.ts'

const tags = ['screenshots']
const writes = { scopes: ['assets.write'] as const }

/** The screenshots of the caller. */
const createScreenshotRoutes = ({ read }: Forms): Routes => async (app) => {
  const { assets } = app

  app.post('/api/screenshots', {
    schema: {
      operationId: 'addScreenshot',
      tags,
      summary: 'Upload a screenshot',
      description: 'A form with the part `screenshotFile`: a PNG, JPEG, WebP, GIF, AVIF, BMP or TIFF picture.',
      consumes: ['multipart/form-data'],
      form: ScreenshotForm,
      querystring: ScreenshotUploadQuery,
      response: { 200: ScreenshotSchema, 400: ErrorSchema, 404: ErrorSchema, 413: ErrorSchema, 507: ErrorSchema }
    },
    preValidation: read,
    config: writes
  }, async (request) => {
    const form = formOf(request)
    const file = requireFile(form.main('screenshotFile'), 'screenshotFile')
    return await assets.uploadScreenshot(contextOf(request), request.query.rom_id, file)
  })

  app.put('/api/screenshots/:id', {
    schema: {
      operationId: 'updateScreenshot', tags, summary: 'Make a screenshot public or private',
      params: IdParams, body: VisibilityBody, response: { 200: ScreenshotSchema }
    },
    config: writes
  }, async (request) => {
    await assets.changes.setPublic(contextOf(request), { kind: 'screenshot', id: request.params.id }, request.body.is_public)
    return await assets.viewScreenshot(contextOf(request), request.params.id)
  })

  app.delete('/api/screenshots/:id', {
    schema: { operationId: 'deleteScreenshot', tags, summary: 'Delete a screenshot', params: IdParams, response: { 200: EmptyBody, 404: ErrorSchema } },
    config: { ...writes, audit: 'screenshot.deleted' }
  }, async (request) => {
    await assets.changes.delete(contextOf(request), 'screenshot', [request.params.id])
  })
}

export default createScreenshotRoutes
