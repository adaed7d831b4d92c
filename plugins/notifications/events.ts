import type { NotificationView } from './schemas.ts'

/** Null stands for all of the inbox. */
interface Chosen { ids: number[] | null }

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    'notifications:new': NotificationView
    'notifications:read': Chosen
    'notifications:dismissed': Chosen
  }
}
