import type { FastifyInstance } from 'fastify'
import { SIGNED_IN_ROOM, userRoom } from '../../core/sockets/sockets.ts'
import type { CollectionChange } from './events.ts'

/**
 * Publishes a change to the users who may see a collection. A user who just lost access hears it once more.
 *
 * @param isPublic true if the collection is public, or was until now
 */
export function announceChange (app: FastifyInstance, change: CollectionChange, isPublic: boolean): void {
  app.sockets.publish(isPublic ? SIGNED_IN_ROOM : userRoom(change.user_id), 'collections:changed', change)
}
