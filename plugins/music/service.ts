import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Db } from '../../core/database/db.ts'
import { favorites } from './favorites.ts'
import { playlists, requireReadable } from './playlists.ts'
import type { Facet, FacetQuery, PageQuery, TrackFilters } from './schemas.ts'
import { type TrackSource, selectFacet, selectTracks } from './track-rows.ts'
import { toTrackView } from './views.ts'

export function createMusic (app: FastifyInstance) {
  async function list (db: Db, caller: Caller, source: TrackSource, query: TrackFilters & PageQuery) {
    const { items, total } = await selectTracks(db, caller, source, query)
    const { limit, offset } = query
    return { items: items.map((row) => toTrackView(row, app.resources.marked)), total, limit, offset }
  }

  return {
    favorites,
    playlists,

    list: (db: Db, caller: Caller, query: TrackFilters & PageQuery) => list(db, caller, { kind: 'all' }, query),

    listFavorites: (db: Db, caller: Caller, query: TrackFilters & PageQuery) =>
      list(db, caller, { kind: 'favorites', user_id: caller.id }, query),

    /** @throws ApiError NOT_FOUND, or FORBIDDEN for a private playlist of another user */
    async listPlaylist (db: Db, caller: Caller, id: number, query: PageQuery) {
      await requireReadable(db, caller, id)
      return await list(db, caller, { kind: 'playlist', id }, query)
    },

    /** Lists the values of a field; a filter by the same field is ignored. */
    async listValues (db: Db, caller: Caller, facet: Facet, { [facet]: _own, ...query }: FacetQuery) {
      const { limit, offset } = query
      return { ...await selectFacet(db, caller, facet, query), limit, offset }
    }
  }
}
export type Music = ReturnType<typeof createMusic>
