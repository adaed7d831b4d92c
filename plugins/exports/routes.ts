import type { ExporterDefinition } from '@svc/plugin-sdk'
import { contextOf } from '../../core/access/context.ts'
import { ErrorSchema, type Routes } from '../../core/typebox.ts'
import { findPlatforms } from './find-platforms.ts'
import { hideRoms } from './filter-report.ts'
import { ExportBodySchema, ExportOutcomeSchema, ExportQuerySchema } from './schemas.ts'

const toPascalCase = (key: string) =>
  key.split('-').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')

function createRoute ({ key, name, fileName, route = key }: ExporterDefinition): Routes {
  return async (app) => {
    app.post(`/api/export/${route}`, {
      schema: {
        operationId: `export${toPascalCase(key)}`,
        tags: ['exports'],
        summary: `Write ${fileName} into the platform folders`,
        description: `${name}: updates ${fileName} and the media of each platform, and keeps content that others wrote ` +
          'there. The response follows at the end, after at most 10 minutes; a longer export continues without a response.',
        body: ExportBodySchema,
        querystring: ExportQuerySchema,
        response: { 200: ExportOutcomeSchema, 404: ErrorSchema, 409: ErrorSchema, 500: ErrorSchema, 503: ErrorSchema }
      },
      preValidation: async (request) => { request.body ??= null },
      config: { scopes: ['roms.write'], audit: 'export.written' }
    }, async (request) => {
      const { body, query: { platform_ids: ids = [] } } = request
      const context = contextOf(request)
      const platformIds = await findPlatforms(app.platforms, context, body?.platforms ?? [], ids)
      return await hideRoms(context, await app.exports.request(key, platformIds, context.caller))
    })
  }
}

/**
 * Registers one route per exporter, also for one that is off, because it may be switched on later. The loader refuses
 * exporters with an invalid route, or another's.
 */
const routes: Routes = async (app) => {
  for (const { kind, definition } of app.registry.definitions) {
    if (kind === 'exporter') await app.register(createRoute(definition as ExporterDefinition))
  }
}

export default routes
