import { Type } from '@sinclair/typebox'
import { notFound } from '../../core/errors.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { ErrorSchema } from '../../core/typebox.ts'
import { logsConfig } from './config.ts'
import { selectLines } from './rows.ts'
import { LINES_MAX, LogEntrySchema, LogsQuery } from './schemas.ts'

const routes: FeatureRoutes = async (app, { config }) => {
  app.get('/api/logs', {
    schema: {
      operationId: 'listLogEntries',
      tags: ['logs'],
      summary: 'List the newest log lines of all processes, oldest first',
      description: 'Answers 404 with `DISABLE_LOGS_VIEWER=true`. Administrators receive new lines as `logs:entry`.',
      querystring: LogsQuery,
      response: { 200: Type.Array(LogEntrySchema), 404: ErrorSchema }
    },
    config: { scopes: ['logs.read'] }
  }, async (request) => {
    if (logsConfig.of(config).disable_viewer) throw notFound('Logs viewer is disabled')
    return await selectLines(request.db, Math.min(Math.max(request.query.limit, 1), LINES_MAX))
  })
}

export default routes
