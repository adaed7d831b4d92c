import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import { favorites } from './favorites.ts'
import { playlists, requireReadable } from './playlists.ts'
import type { Facet, FacetQuery, PageQuery, TrackFilters } from './schemas.ts'
import { type TrackSource, selectFacet, selectTracks } from './track-rows.ts'
import { toTrackView } from './views.ts'

export function createMusic (app: FastifyInstance) {
  async function list (em: EntityManager, caller: Caller, source: TrackSource, query: TrackFilters & PageQuery) {
    const { items, total } = await selectTracks(em, caller, source, query)
    const { limit, offset } = query
    return { items: items.map((row) => toTrackView(row, app.resources.marked)), total, limit, offset }
  }

  return {
    favorites,
    playlists,

    list: (em: EntityManager, caller: Caller, query: TrackFilters & PageQuery) => list(em, caller, { kind: 'all' }, query),

    listFavorites: (em: EntityManager, caller: Caller, query: TrackFilters & PageQuery) =>
      list(em, caller, { kind: 'favorites', user_id: caller.id }, query),

    /** @throws ApiError NOT_FOUND, or FORBIDDEN for a private playlist of another user */
    async listPlaylist (em: EntityManager, caller: Caller, id: number, query: PageQuery) {
      await requireReadable(em, caller, id)
      return await list(em, caller, { kind: 'playlist', id }, query)
    },

    /** Lists the values of a field; a filter by the same field is ignored. */
    async listValues (em: EntityManager, caller: Caller, facet: Facet, { [facet]: _own, ...query }: FacetQuery) {
      const { limit, offset } = query
      return { ...await selectFacet(em, caller, facet, query), limit, offset }
    }
  }
}
export type Music = ReturnType<typeof createMusic>
