import type { FastifyInstance } from 'fastify'
import { SIGNED_IN_ROOM, userRoom } from '../../core/sockets/sockets.ts'
import type { CollectionChange } from './events.ts'

/**
 * Publishes a change to the users who may see a collection. A user who just lost access hears it once more.
 *
 * @param isPublic true if the collection is public, or was until now
 */
export async function announceChange (
  app: FastifyInstance, change: CollectionChange, isPublic: boolean
): Promise<void> {
  const owner = userRoom(change.user_id)
  const readers = isPublic ? await app.permissions.findCollectionReaders() : []
  const rooms = readers === null ? SIGNED_IN_ROOM : [...new Set([owner, ...readers.map(userRoom)])]
  app.sockets.publish(rooms, 'collections:changed', change)
}
