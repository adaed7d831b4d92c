/** Tells of a collection as little as may be: who may read it fetches it. */
export interface CollectionChange {
  kind: 'plain' | 'smart'
  id: number
  user_id: number
  change: 'added' | 'changed' | 'deleted'
}

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents { 'collections:changed': CollectionChange }
}
