import { callerOf } from '../../core/access/auth.ts'
import type { Routes } from '../../core/typebox.ts'
import { TaskExecutionSchema } from '../tasks/schemas.ts'
import { toTaskExecution } from '../tasks/views.ts'
import { createScanPayloadSchema } from './schemas.ts'

const routes: Routes = async (app) => {
  app.post('/api/tasks/scan', {
    schema: {
      operationId: 'startScan',
      tags: ['tasks'],
      summary: 'Queue a scan; without a body a quick one of the whole library',
      body: createScanPayloadSchema(app.registry),
      response: { 202: TaskExecutionSchema }
    },
    preValidation: async (request) => { request.body ??= {} as never },
    config: { scopes: ['tasks.run'], audit: 'scan.started' }
  }, async (request, reply) => {
    const task = await app.scans.request(request.body, callerOf(request).id)
    return reply.code(202).send(toTaskExecution(task))
  })
}

export default routes
