import { Type } from '@sinclair/typebox'
import { callerOf } from '../../core/access/auth.ts'
import { contextOf } from '../../core/access/context.ts'
import { type Routes, idOf } from '../../core/typebox.ts'
import { NotificationSchema, ReadSchema, SendNotificationSchema } from './schemas.ts'

const tags = ['notifications']

const routes: Routes = async (app) => {
  app.get('/api/notifications', {
    schema: {
      operationId: 'listNotifications', tags, summary: 'List your notifications, newest first',
      response: { 200: Type.Array(NotificationSchema) }
    },
    config: { scopes: ['me.read'] }
  }, async (request) => await app.notifications.list(contextOf(request)))

  app.post('/api/notifications', {
    schema: {
      operationId: 'sendNotification',
      tags,
      summary: 'Send a notification to yourself, or as an administrator to others; at most 60 per minute',
      body: SendNotificationSchema,
      response: { 201: Type.Array(NotificationSchema, { description: 'One per recipient' }) }
    },
    config: { scopes: ['me.write'] }
  }, async (request, reply) => reply.code(201).send(await app.notifications.send(callerOf(request), request.body)))

  app.post('/api/notifications/read', {
    schema: {
      operationId: 'readNotifications', tags, summary: 'Mark notifications as read', body: ReadSchema,
      response: { 200: Type.Null() }
    },
    config: { scopes: ['me.write'] }
  }, async (request) => {
    await app.notifications.read(callerOf(request), request.body.ids ?? null)
    return null
  })

  app.delete('/api/notifications/:notification_id', {
    schema: {
      operationId: 'dismissNotification', tags, summary: 'Dismiss a notification', params: Type.Object({ notification_id: idOf('a notification') }),
      response: { 200: Type.Null() }
    },
    config: { scopes: ['me.write'] }
  }, async (request) => {
    await app.notifications.dismiss(callerOf(request), request.params.notification_id)
    return null
  })

  app.delete('/api/notifications', {
    schema: {
      operationId: 'dismissNotifications', tags, summary: 'Dismiss all of your notifications', response: { 200: Type.Null() }
    },
    config: { scopes: ['me.write'] }
  }, async (request) => {
    await app.notifications.dismissAll(callerOf(request))
    return null
  })
}

export default routes
