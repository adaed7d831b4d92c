import { Type } from '@sinclair/typebox'
import type { Routes } from '../../core/typebox.ts'
import { PluginSchema } from './schemas.ts'

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
}

export default routes
