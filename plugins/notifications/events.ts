import { type Static, Type } from '@sinclair/typebox'
import type { EventDescriptions, ServerEvents } from '../../core/sockets/sockets.ts'
import { Nullable } from '../../core/typebox.ts'
import { NotificationSchema, type NotificationView } from './schemas.ts'

const ChosenSchema = Type.Object({
  ids: Nullable(Type.Array(Type.Integer(), { description: 'Null for the whole inbox' }))
}, { title: 'ChosenNotifications' })
type Chosen = Static<typeof ChosenSchema>

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    'notifications:new': NotificationView
    'notifications:read': Chosen
    'notifications:dismissed': Chosen
  }
}

export const notificationEvents: EventDescriptions<ServerEvents> = {
  'notifications:new': { summary: 'A notification arrived in the inbox', schema: NotificationSchema },
  'notifications:read': { summary: 'Another client marked notifications as read', schema: ChosenSchema },
  'notifications:dismissed': { summary: 'Another client dismissed notifications', schema: ChosenSchema }
}
