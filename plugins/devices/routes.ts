import { Type } from '@sinclair/typebox'
import { callerOf } from '../../core/access/auth.ts'
import { contextOf } from '../../core/access/context.ts'
import { ErrorSchema, type Routes } from '../../core/typebox.ts'
import { isNumbered } from './registration.ts'
import { DeviceExistsSchema, DeviceParams, DeviceSchema, RegisterDeviceSchema, RegisteredDeviceSchema, UpdateDeviceSchema } from './schemas.ts'
import { toDeviceView, toRegisteredDevice } from './views.ts'

const tags = ['devices']

const routes: Routes = async (app) => {
  app.post('/api/devices', {
    schema: {
      operationId: 'registerDevice',
      tags,
      summary: 'Register a device; a known device is returned instead',
      description: 'A device is recognized by its installation identifier, else by its hardware address, else by host name and platform together.',
      body: RegisterDeviceSchema,
      response: { 200: RegisteredDeviceSchema, 201: RegisteredDeviceSchema, 409: DeviceExistsSchema }
    },
    config: { scopes: ['devices.write'] }
  }, async (request, reply) => {
    const { device, isNew } = await app.devices.register(contextOf(request), request.body)
    return reply.code(isNew ? 201 : 200).send(toRegisteredDevice(device, isNumbered(request.body)))
  })

  app.get('/api/devices', {
    schema: { operationId: 'listDevices', tags, summary: 'List your devices', response: { 200: Type.Array(DeviceSchema) } },
    config: { scopes: ['devices.read'] }
  }, async (request) => (await app.devices.list(contextOf(request))).map(toDeviceView))

  app.get('/api/devices/online', {
    schema: {
      operationId: 'listOnlineDevices',
      tags,
      summary: 'List your devices that are connected to `/devices`',
      response: { 200: Type.Array(Type.String({ description: 'UUID of a device' })) }
    },
    config: { scopes: ['devices.read'] }
  }, async (request) => app.devices.listOnline(contextOf(request)))

  app.get('/api/devices/:device_id', {
    schema: {
      operationId: 'getDevice', tags, summary: 'Get a device', params: DeviceParams,
      response: { 200: DeviceSchema, 404: ErrorSchema }
    },
    config: { scopes: ['devices.read'] }
  }, async (request) =>
    toDeviceView(await app.devices.find(request.db, callerOf(request).id, request.params.device_id)))

  app.put('/api/devices/:device_id', {
    schema: {
      operationId: 'updateDevice',
      tags,
      summary: 'Change the given fields of a device; null clears a field',
      params: DeviceParams,
      body: UpdateDeviceSchema,
      response: { 200: DeviceSchema, 404: ErrorSchema }
    },
    config: { scopes: ['devices.write'] }
  }, async (request) => toDeviceView(
    await app.devices.update(contextOf(request), request.params.device_id, request.body)))

  app.delete('/api/devices/:device_id', {
    schema: {
      operationId: 'deleteDevice',
      tags,
      summary: 'Delete a device and its sync state; saves stay',
      params: DeviceParams,
      response: { 204: Type.Null(), 404: ErrorSchema }
    },
    config: { scopes: ['devices.write'] }
  }, async (request, reply) => {
    await app.devices.delete(contextOf(request), request.params.device_id, request.ip)
    return reply.code(204).send(null)
  })
}

export default routes
