import { type RouteAccess, callerOf } from '../../../core/access/auth.ts'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, type Routes } from '../../../core/typebox.ts'
import {
  AdminContainersSchema, AdminSessionsSchema, AllReleasedSchema, BusySchema, DesktopSchema, DesktopSessionSchema,
  ReleaseAllQuery
} from '../schemas.ts'

const tags = ['streaming']
const reads: RouteAccess = { scopes: ['roms.read'], admin: true }
const writes: RouteAccess = { scopes: ['roms.user.write'], admin: true }

const createAdminRoutes = (isEnabled: () => boolean): Routes => async (app) => {
  const { streaming } = app

  app.get('/api/streaming/sessions', {
    schema: {
      operationId: 'listStreamingSessions', tags, summary: 'List current players and their machines', response: { 200: AdminSessionsSchema }
    },
    config: reads
  }, async () => ({ sessions: await streaming.listSessions() }))

  app.delete('/api/streaming/sessions', {
    schema: {
      operationId: 'releaseStreamingSessions', tags, summary: 'End all games and release their machines',
      querystring: ReleaseAllQuery, response: { 200: AllReleasedSchema }
    },
    config: writes
  }, async (request) => ({
    status: 'released' as const, platforms: await streaming.releaseAll(callerOf(request), request.query.reason)
  }))

  app.get('/api/streaming/containers', {
    schema: {
      operationId: 'listStreamingContainers', tags, summary: 'List the machines and their sessions', response: { 200: AdminContainersSchema }
    },
    config: reads
  }, async () => ({ enabled: isEnabled(), containers: await streaming.listMachines() }))

  app.post('/api/streaming/desktop', {
    schema: {
      operationId: 'openStreamingDesktop', tags, summary: 'Reserve a machine and open its desktop', body: DesktopSchema,
      response: {
        200: DesktopSessionSchema,
        400: ErrorSchema,
        404: ErrorSchema,
        409: BusySchema,
        502: ErrorSchema,
        503: ErrorSchema
      }
    },
    config: writes
  }, async (request) => streaming.openDesktop(contextOf(request), request.body.container))
}

export default createAdminRoutes
