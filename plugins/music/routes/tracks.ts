import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, type Routes } from '../../../core/typebox.ts'
import {
  AddedSchema, type Facet, FacetPageSchema, ListFavoritesQuery, ListTracksQuery, RemovedSchema, TrackIdsSchema,
  TrackPageSchema, facetQuery
} from '../schemas.ts'
import type { Music } from '../service.ts'

const tags = ['music']
const reads = { scopes: ['roms.read'] as const }

const FACET_ROUTES: readonly { facet: Facet, path: string, noun: string }[] = [
  { facet: 'artist', path: 'artists', noun: 'Artists' },
  { facet: 'album', path: 'albums', noun: 'Albums' },
  { facet: 'genre', path: 'genres', noun: 'Genres' },
  { facet: 'year', path: 'years', noun: 'Years' }
]

const createTrackRoutes = (music: Music): Routes => async (app) => {
  app.get('/api/music/tracks', {
    schema: {
      operationId: 'listTracks',
      tags,
      summary: 'List the music of all games whose tags could be read',
      querystring: ListTracksQuery,
      response: { 200: TrackPageSchema }
    },
    config: reads
  }, async (request) => music.list(contextOf(request), request.query))

  for (const { facet, path, noun } of FACET_ROUTES) {
    app.get(`/api/music/${path}`, {
      schema: {
        operationId: `listTrack${noun}`,
        tags,
        summary: `List the ${path} of the music, with the number of tracks of each`,
        querystring: facetQuery(facet),
        response: { 200: FacetPageSchema }
      },
      config: reads
    }, async (request) => music.listValues(contextOf(request), facet, request.query))
  }

  app.get('/api/music/favorites', {
    schema: {
      operationId: 'listFavoriteTracks', tags, summary: 'List your favourite tracks', querystring: ListFavoritesQuery,
      response: { 200: TrackPageSchema }
    },
    config: { scopes: ['playlists.read'] }
  }, async (request) => music.listFavorites(contextOf(request), request.query))

  app.post('/api/music/favorites', {
    schema: {
      operationId: 'addFavoriteTracks', tags, summary: 'Add tracks to your favourites', body: TrackIdsSchema,
      response: { 200: AddedSchema, 400: ErrorSchema }
    },
    config: { scopes: ['playlists.write'] }
  }, async (request) =>
    ({ added: await music.favorites.add(contextOf(request), request.body.rom_file_ids) }))

  app.delete('/api/music/favorites', {
    schema: {
      operationId: 'removeFavoriteTracks', tags, summary: 'Remove tracks from your favourites', body: TrackIdsSchema,
      response: { 200: RemovedSchema, 400: ErrorSchema }
    },
    config: { scopes: ['playlists.write'] }
  }, async (request) =>
    ({ removed: await music.favorites.remove(contextOf(request), request.body.rom_file_ids) }))
}

export default createTrackRoutes
