import { Type } from '@sinclair/typebox'
import { contextOf } from '../../core/access/context.ts'
import { type Routes, idOf } from '../../core/typebox.ts'
import { DeviceReference } from '../devices/schemas.ts'
import { ActivityEntrySchema, HeartbeatSchema } from './schemas.ts'

const tags = ['activity']
const RomParams = Type.Object({ rom_id: idOf('a ROM') })

const routes: Routes = async (app) => {
  app.get('/api/activity', {
    schema: { operationId: 'listActivity', tags, summary: 'List current players and their games', response: { 200: Type.Array(ActivityEntrySchema) } },
    config: { scopes: ['roms.user.read'] }
  }, async (request) => app.activity.list(contextOf(request)))

  app.get('/api/activity/rom/:rom_id', {
    schema: {
      operationId: 'listRomActivity', tags, summary: 'List current players of a ROM', params: RomParams,
      response: { 200: Type.Array(ActivityEntrySchema) }
    },
    config: { scopes: ['roms.user.read'] }
  }, async (request) => app.activity.list(contextOf(request), request.params.rom_id))

  app.post('/api/activity/heartbeat', {
    schema: {
      operationId: 'sendActivityHeartbeat', tags, summary: 'Report that you play a ROM on a device, for the next 90 seconds',
      body: HeartbeatSchema, response: { 200: ActivityEntrySchema }
    },
    config: { scopes: ['roms.user.write'] }
  }, async (request) =>
    app.activity.storeHeartbeat(contextOf(request), request.body, { socket_id: null, starts: false }))

  app.delete('/api/activity/heartbeat', {
    schema: {
      operationId: 'clearActivity', tags, summary: 'Report that you no longer play on a device',
      querystring: Type.Object({ device_id: DeviceReference }), response: { 204: Type.Null() }
    },
    config: { scopes: ['roms.user.write'] }
  }, async (request, reply) => {
    await app.activity.stop(contextOf(request), request.query.device_id)
    return reply.code(204).send(null)
  })
}

export default routes
