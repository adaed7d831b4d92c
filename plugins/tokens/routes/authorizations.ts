import { Type } from '@sinclair/typebox'
import { callerOf } from '../../../core/access/auth.ts'
import { contextOf } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import { basePath, shareableBaseUrl } from '../../../core/config/base-url.ts'
import { ErrorSchema, type Routes } from '../../../core/typebox.ts'
import { actorOf } from '../actor.ts'
import { DeviceAuthApproveResponse, DeviceAuthApproveSchema, DeviceAuthInitResponse, DeviceAuthInitSchema, DeviceAuthPendingSchema, DeviceAuthTokenResponse, DeviceCodeSchema, UserCodeSchema } from '../authorizations/schemas.ts'
import { toPendingView } from '../authorizations/views.ts'

/** The path to which a device sends its user. */
export const PAGE_PATH = '/pair/device'

const tags = ['device-authorization']

const createRoutes = (config: Config): Routes => async (app) => {
  const { authorizations, polls } = app.tokens

  app.post('/api/auth/device/init', {
    schema: {
      operationId: 'startDeviceAuthorization',
      tags,
      summary: 'Request access for a device',
      body: DeviceAuthInitSchema,
      response: { 201: DeviceAuthInitResponse, 429: ErrorSchema }
    },
    config: { public: true, csrfExempt: true }
  }, async (request, reply) => {
    const codes = await authorizations.init(request.db, request.body, request.ip)
    const complete = `${PAGE_PATH}?user_code=${codes.user_code}`
    // Without a configured public address, use the address that the device called.
    const base = shareableBaseUrl(config) ?? `${request.protocol}://${request.host}${basePath(config)}`
    return reply.code(201).send({
      ...codes,
      verification_uri: base + PAGE_PATH,
      verification_uri_complete: base + complete,
      verification_path: PAGE_PATH,
      verification_path_complete: complete
    })
  })

  app.get('/api/auth/device/pending/:user_code', {
    schema: {
      operationId: 'getDeviceAuthorization',
      tags,
      summary: 'Get the request of the device with a code',
      params: Type.Object({ user_code: Type.String({ description: 'The code that the device shows' }) }),
      response: { 200: DeviceAuthPendingSchema, 404: ErrorSchema, 410: ErrorSchema }
    },
    config: { scopes: ['me.read'] }
  }, async (request) => {
    const caller = callerOf(request)
    const pending = await authorizations.getPending(contextOf(request), request.params.user_code)
    return toPendingView(pending, caller.scopes)
  })

  app.post('/api/auth/device/approve', {
    schema: {
      operationId: 'approveDevice',
      tags,
      summary: 'Approve the device as yours',
      body: DeviceAuthApproveSchema,
      response: { 200: DeviceAuthApproveResponse, 404: ErrorSchema, 410: ErrorSchema }
    },
    config: { scopes: ['me.write'], signedIn: true }
  }, async (request) => {
    const { id, device_id: deviceId, name } = await authorizations.approve(request.db, actorOf(request), request.body)
    return { device_id: deviceId, device_number: id, device_name: name }
  })

  app.post('/api/auth/device/deny', {
    schema: {
      operationId: 'denyDevice',
      tags,
      summary: 'Deny the device',
      body: UserCodeSchema,
      response: { 200: Type.Null(), 404: ErrorSchema, 410: ErrorSchema }
    },
    config: { scopes: ['me.write'] }
  }, async (request) => {
    await authorizations.deny(request.db, actorOf(request), request.body.user_code)
    return null
  })

  app.post('/api/auth/device/token', {
    schema: {
      operationId: 'pollDeviceToken',
      tags,
      summary: 'Get the token of an approved device',
      description:
        'Before the approval 400 with the `detail` `authorization_pending`, `slow_down`, `access_denied` or ' +
        '`expired_token`.',
      body: DeviceCodeSchema,
      response: { 200: DeviceAuthTokenResponse, 400: ErrorSchema, 429: ErrorSchema }
    },
    config: { public: true, csrfExempt: true }
  }, async (request) => await polls.poll(request.db, request.body.device_code, request.ip))
}

export default createRoutes
