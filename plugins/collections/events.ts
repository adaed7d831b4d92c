import { type Static, Type } from '@sinclair/typebox'
import type { EventDescriptions, ServerEvents } from '../../core/sockets/sockets.ts'
import { StringEnum } from '../../core/typebox.ts'

/** Minimal notice of a changed collection. Users who may read the collection load it. */
const CollectionChangeSchema = Type.Object({
  kind: StringEnum(['plain', 'smart']),
  id: Type.Integer(),
  user_id: Type.Integer(),
  change: StringEnum(['added', 'changed', 'deleted'])
}, { title: 'CollectionChange' })
export type CollectionChange = Static<typeof CollectionChangeSchema>

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents { 'collections:changed': CollectionChange }
}

export const collectionEvents: EventDescriptions<ServerEvents> = {
  'collections:changed': { summary: 'A collection was added, changed or deleted', schema: CollectionChangeSchema }
}
