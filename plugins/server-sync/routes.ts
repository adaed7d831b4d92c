import { contextOf } from '../../core/access/context.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { ErrorSchema } from '../../core/typebox.ts'
import { DeviceParams } from '../devices/schemas.ts'
import { SyncSessionSchema } from '../sync/schemas.ts'
import { toSessionView } from '../sync/views.ts'
import type { ServerSync } from './service.ts'

const routes: FeatureRoutes<ServerSync> = async (app, _options, serverSync) => {
  app.post('/api/sync/devices/:device_id/push-pull', {
    schema: {
      operationId: 'syncDevice',
      tags: ['sync'],
      summary: 'Let the server sync one of your devices over SSH',
      description: 'For a device with the sync mode `push_pull` and an `ssh_host` in its `sync_config`. The response is ' +
        'the pending session; the events `sync:*` and `GET /api/sync/sessions/{session_id}` report its progress. ' +
        'The first key of the host is stored as `ssh_host_key`, and the host must present it from then on.',
      params: DeviceParams,
      response: { 200: SyncSessionSchema, 400: ErrorSchema, 404: ErrorSchema, 503: ErrorSchema }
    },
    config: { scopes: ['devices.write', 'assets.read', 'assets.write'] }
  }, async (request) =>
    toSessionView(await serverSync.request(contextOf(request), request.params.device_id)))
}

export default routes
