import type { FastifyInstance } from 'fastify'
import { SIGNED_IN_ROOM, userRoom } from '../../core/sockets/sockets.ts'
import type { CollectionChange } from './events.ts'

/**
 * Tells those who may see a collection that it changed; who may no more is told once.
 *
 * @param isPublic whether it is, or was until now
 */
export function announceChange (app: FastifyInstance, change: CollectionChange, isPublic: boolean): void {
  app.sockets.publish(isPublic ? SIGNED_IN_ROOM : userRoom(change.user_id), 'collections:changed', change)
}
