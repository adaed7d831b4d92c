import { Type } from '@sinclair/typebox'
import { callerOf } from '../../core/access/auth.ts'
import { contextOf } from '../../core/access/context.ts'
import { ErrorSchema, type Routes, idOf } from '../../core/typebox.ts'
import type { NotificationChannel } from './entities.ts'
import { AppriseServiceSchema, CodeSchema, CreateChannelSchema, NotificationChannelSchema, ParseSchema, ParsedSchema, TestResultSchema, UpdateChannelSchema } from './schemas.ts'
import { toChannelView } from './views.ts'

const tags = ['notification-channels']
const ChannelParams = Type.Object({ channel_id: idOf('a channel') })

const routes: Routes = async (app) => {
  const { channels } = app
  const toView = (row: NotificationChannel) => toChannelView(row, app.secrets)

  app.get('/api/notification-channels', {
    schema: {
      operationId: 'listNotificationChannels', tags, summary: 'List your channels, oldest first',
      response: { 200: Type.Array(NotificationChannelSchema) }
    },
    config: { scopes: ['me.read'] }
  }, async (request) => (await channels.list(contextOf(request))).map(toView))

  app.post('/api/notification-channels', {
    schema: {
      operationId: 'createNotificationChannel',
      tags,
      summary: 'Add a channel',
      description: 'If the owner of the destination must agree, a code is sent there, and the channel starts unconfirmed.',
      body: CreateChannelSchema,
      response: { 201: NotificationChannelSchema, 400: ErrorSchema, 429: ErrorSchema, 502: ErrorSchema }
    },
    config: { scopes: ['me.write'], audit: 'channel.created' }
  }, async (request, reply) =>
    reply.code(201).send(toView(await channels.create(contextOf(request), request.body))))

  app.get('/api/notification-channels/apprise-services', {
    schema: {
      operationId: 'listAppriseServices', tags, summary: 'List the services of Apprise channels and their fields, by name',
      response: { 200: Type.Array(AppriseServiceSchema) }
    },
    config: { scopes: ['me.read'], admin: true }
  }, async (request) => await channels.listServices(callerOf(request)))

  app.post('/api/notification-channels/apprise-services/parse', {
    schema: {
      operationId: 'parseAppriseUrl',
      tags,
      summary: 'Convert a URL of a service or of Apprise to fields',
      description: 'The response contains the secrets of the URL, for the form.',
      body: ParseSchema,
      response: { 200: ParsedSchema, 400: ErrorSchema }
    },
    config: { scopes: ['me.read'], admin: true }
  }, async (request) => await channels.parse(callerOf(request), request.body.url))

  app.patch('/api/notification-channels/:channel_id', {
    schema: {
      operationId: 'updateNotificationChannel', tags, summary: 'Change a channel', params: ChannelParams,
      body: UpdateChannelSchema,
      response: {
        200: NotificationChannelSchema, 400: ErrorSchema, 404: ErrorSchema, 429: ErrorSchema, 502: ErrorSchema
      }
    },
    config: { scopes: ['me.write'], audit: 'channel.updated' }
  }, async (request) =>
    toView(await channels.update(contextOf(request), request.params.channel_id, request.body)))

  app.delete('/api/notification-channels/:channel_id', {
    schema: {
      operationId: 'deleteNotificationChannel', tags, summary: 'Remove a channel', params: ChannelParams,
      response: { 200: Type.Null(), 404: ErrorSchema }
    },
    config: { scopes: ['me.write'], audit: 'channel.deleted' }
  }, async (request) => {
    await channels.delete(contextOf(request), request.params.channel_id)
    return null
  })

  app.post('/api/notification-channels/:channel_id/test', {
    schema: {
      operationId: 'testNotificationChannel', tags, summary: 'Send a test notification now', params: ChannelParams,
      response: { 200: TestResultSchema, 400: ErrorSchema, 404: ErrorSchema, 429: ErrorSchema }
    },
    config: { scopes: ['me.write'] }
  }, async (request) => await channels.test(contextOf(request), request.params.channel_id))

  app.post('/api/notification-channels/:channel_id/confirm', {
    schema: {
      operationId: 'confirmNotificationChannel', tags, summary: 'Enter the code that was sent', params: ChannelParams,
      body: CodeSchema,
      response: { 200: NotificationChannelSchema, 400: ErrorSchema, 404: ErrorSchema, 429: ErrorSchema }
    },
    config: { scopes: ['me.write'], audit: 'channel.confirmed' }
  }, async (request) => {
    const { ip, params, body } = request
    return toView(await channels.confirm(contextOf(request), params.channel_id, body.code, ip))
  })

  app.post('/api/notification-channels/:channel_id/resend-code', {
    schema: {
      operationId: 'resendNotificationChannelCode', tags, summary: 'Send another code', params: ChannelParams,
      response: { 204: Type.Null(), 400: ErrorSchema, 404: ErrorSchema, 429: ErrorSchema, 502: ErrorSchema }
    },
    config: { scopes: ['me.write'] }
  }, async (request, reply) => {
    await channels.resendCode(contextOf(request), request.params.channel_id)
    return reply.code(204).send(null)
  })
}

export default routes
