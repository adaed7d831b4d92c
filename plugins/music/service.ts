import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import { favorites } from './favorites.ts'
import { playlists, requireReadable } from './playlists.ts'
import type { Facet, FacetQuery, PageQuery, TrackFilters } from './schemas.ts'
import { type TrackSource, selectFacet, selectTracks } from './track-rows.ts'
import { toTrackView } from './views.ts'

export function createMusic (app: FastifyInstance) {
  async function list (context: Context, source: TrackSource, query: TrackFilters & PageQuery) {
    const { items, total } = await selectTracks(context, source, query)
    const { limit, offset } = query
    return { items: items.map((row) => toTrackView(row, app.resources.marked)), total, limit, offset }
  }

  return {
    favorites,
    playlists,

    list: (context: Context, query: TrackFilters & PageQuery) => list(context, { kind: 'all' }, query),

    listFavorites: (context: Context, query: TrackFilters & PageQuery) =>
      list(context, { kind: 'favorites', user_id: context.caller.id }, query),

    /** @throws ApiError NOT_FOUND, or FORBIDDEN for a private playlist of another user */
    async listPlaylist (context: Context, id: number, query: PageQuery) {
      await requireReadable(context, id)
      return await list(context, { kind: 'playlist', id }, query)
    },

    /** Lists the values of a field; a filter by the same field is ignored. */
    async listValues (context: Context, facet: Facet, { [facet]: _own, ...query }: FacetQuery) {
      const { limit, offset } = query
      return { ...await selectFacet(context, facet, query), limit, offset }
    }
  }
}
export type Music = ReturnType<typeof createMusic>
