import { type Static, Type } from '@sinclair/typebox'
import type { EventDescriptions, ServerEvents } from '../../core/sockets/sockets.ts'
import { Nullable } from '../../core/typebox.ts'
import { NotificationSchema, type NotificationView } from './schemas.ts'

const ChosenSchema = Type.Object({
  ids: Nullable(Type.Array(Type.Integer(), { description: 'Null stands for all of the inbox' }))
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
  'notifications:new': { summary: 'Something came to the inbox', schema: NotificationSchema },
  'notifications:read': { summary: 'Notifications were read in another place', schema: ChosenSchema },
  'notifications:dismissed': { summary: 'Notifications were dismissed in another place', schema: ChosenSchema }
}
