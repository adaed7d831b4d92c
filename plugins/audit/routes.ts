import { Type } from '@sinclair/typebox'
import { Limit, Offset, type Routes } from '../../core/typebox.ts'
import { AuditPageSchema } from './schemas.ts'
import { toAuditView } from './views.ts'

const routes: Routes = async (app) => {
  app.get('/api/audit-log', {
    schema: {
      operationId: 'listAuditEvents',
      tags: ['audit'],
      summary: 'List sign-ins, account changes and other security events, newest first',
      querystring: Type.Object({ limit: Limit, offset: Offset }),
      response: { 200: AuditPageSchema }
    },
    config: { scopes: ['users.read'], admin: true }
  }, async (request) => {
    const { items, ...page } = await app.audit.list(request.db, request.query)
    return { ...page, items: items.map(toAuditView) }
  })
}

export default routes
