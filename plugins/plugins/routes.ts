import { Type } from '@sinclair/typebox'
import { ErrorSchema, type Routes } from '../../core/typebox.ts'
import { PluginParamsSchema, PluginSchema, PluginSettingsSchema, PluginValuesSchema } from './schemas.ts'

const reads = { scopes: ['tasks.run'] as const, admin: true }
/** Needs a person at the console, because a setting decides which servers get the keys of this one. */
const writes = { ...reads, signedIn: true, audit: 'settings.changed' as const }

const routes: Routes = async (app) => {
  app.get('/api/plugins', {
    schema: {
      operationId: 'listPlugins',
      tags: ['plugins'],
      summary: 'List all providers, channels and exporters, with their status and problems',
      response: { 200: Type.Array(PluginSchema) }
    },
    config: { scopes: ['tasks.run'] }
  }, async () => await app.plugins.list())

  app.get('/api/plugins/:kind/:key/settings', {
    schema: {
      operationId: 'getPluginSettings',
      tags: ['plugins'],
      summary: 'Get the settings of a plugin, without secrets',
      params: PluginParamsSchema,
      response: { 200: PluginSettingsSchema, 404: ErrorSchema }
    },
    config: reads
  }, async (request) => app.plugins.settings.get(request.params))

  app.put('/api/plugins/:kind/:key/settings', {
    schema: {
      operationId: 'updatePluginSettings',
      tags: ['plugins'],
      summary: 'Replace the stored settings of a plugin; they apply at once',
      description: 'Variables and config.yml override stored settings. A change of a text or number must repeat the secrets of the plugin, ' +
        'because the text may decide where they are sent.',
      params: PluginParamsSchema,
      body: PluginValuesSchema,
      response: { 200: PluginSettingsSchema, 404: ErrorSchema }
    },
    config: writes
  }, async (request) => await app.plugins.settings.replace(request.db, request.params, request.body))

  app.delete('/api/plugins/:kind/:key/settings', {
    schema: {
      operationId: 'deletePluginSettings',
      tags: ['plugins'],
      summary: 'Delete the stored settings of a plugin, secrets included',
      params: PluginParamsSchema,
      response: { 200: PluginSettingsSchema, 404: ErrorSchema }
    },
    config: writes
  }, async (request) => await app.plugins.settings.clear(request.db, request.params))
}

export default routes
