import { Type } from '@sinclair/typebox'
import { contextOf } from '../../core/access/context.ts'
import { notFound } from '../../core/errors.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { ErrorSchema, IdParams } from '../../core/typebox.ts'
import { devicesConfig } from '../devices/config.ts'
import { DeviceParams } from '../devices/schemas.ts'
import { CreateInstallSchema, InstallParams, InstallProgressSchema, InstallRequestSchema, ReportInstallSchema } from './schemas.ts'

const tags = ['installs']
const List = Type.Array(InstallRequestSchema)

const routes: FeatureRoutes = async (app, { config }) => {
  const { installs } = app

  if (!devicesConfig.of(config).install_enabled) {
    app.addHook('onRequest', async () => {
      throw notFound('Installs on devices are disabled; set DEVICE_INSTALL_ENABLED to true')
    })
  }

  app.post('/api/devices/:device_id/installs', {
    schema: {
      operationId: 'createInstallRequest',
      tags,
      summary: 'Send a game to a device',
      params: DeviceParams,
      body: CreateInstallSchema,
      response: {
        200: InstallRequestSchema, 201: InstallRequestSchema, 400: ErrorSchema, 404: ErrorSchema, 409: ErrorSchema
      }
    },
    config: { scopes: ['devices.write', 'roms.read'] }
  }, async (request, reply) => {
    const { params, body } = request
    const { view, isNew } = await installs.request(contextOf(request), params.device_id, body.rom_id)
    return reply.code(isNew ? 201 : 200).send(view)
  })

  app.get('/api/devices/:device_id/installs', {
    schema: {
      operationId: 'listInstallRequests', tags, summary: 'List install requests of a device, oldest first',
      params: DeviceParams, response: { 200: List, 404: ErrorSchema }
    },
    config: { scopes: ['devices.read'] }
  }, async (request) => installs.list(contextOf(request), request.params.device_id))

  app.post('/api/devices/:device_id/installs/claim', {
    schema: {
      operationId: 'claimInstallRequests',
      tags,
      summary: 'Claim the pending requests of a device; returns all its claimed requests',
      params: DeviceParams,
      response: { 200: List, 403: ErrorSchema, 404: ErrorSchema }
    },
    config: { scopes: ['devices.write', 'roms.read'] }
  }, async (request) => installs.claim(contextOf(request), request.params.device_id))

  app.put('/api/devices/:device_id/installs/:request_id', {
    schema: {
      operationId: 'reportInstall',
      tags,
      summary: 'Report the result of an installation',
      params: InstallParams,
      body: ReportInstallSchema,
      response: { 200: InstallRequestSchema, 403: ErrorSchema, 404: ErrorSchema, 409: ErrorSchema }
    },
    config: { scopes: ['devices.write'] }
  }, async (request) => {
    const { device_id: device, request_id: id } = request.params
    return await installs.report(contextOf(request), device, id, request.body)
  })

  app.put('/api/devices/:device_id/installs/:request_id/progress', {
    schema: {
      operationId: 'reportInstallProgress',
      tags,
      summary: 'Report the progress of an installation',
      params: InstallParams,
      body: InstallProgressSchema,
      response: { 200: InstallRequestSchema, 403: ErrorSchema, 404: ErrorSchema }
    },
    config: { scopes: ['devices.write'] }
  }, async (request) => {
    const { device_id: device, request_id: id } = request.params
    return await installs.reportProgress(contextOf(request), device, id, request.body.percent)
  })

  app.delete('/api/devices/:device_id/installs/:request_id', {
    schema: {
      operationId: 'cancelInstallRequest', tags, summary: 'Cancel an install request', params: InstallParams,
      response: { 200: InstallRequestSchema, 404: ErrorSchema }
    },
    config: { scopes: ['devices.write'] }
  }, async (request) => {
    const { device_id: device, request_id: id } = request.params
    return await installs.cancel(contextOf(request), device, id)
  })

  app.get('/api/roms/:id/installs', {
    schema: {
      operationId: 'listRomInstallRequests', tags, summary: 'List your install requests for a ROM, on all devices',
      params: IdParams, response: { 200: List, 404: ErrorSchema }
    },
    config: { scopes: ['devices.read', 'roms.read'] }
  }, async (request) => installs.listOfRom(contextOf(request), request.params.id))
}

export default routes
