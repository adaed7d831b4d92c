import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, IdParams, type Routes } from '../../../core/typebox.ts'
import {
  AddedSchema, ListPlaylistTracksQuery, MusicPlaylistSchema, NewPlaylistSchema, PlaylistChangeSchema, RemovedSchema,
  TrackIdsSchema, TrackPageSchema
} from '../schemas.ts'
import type { Music } from '../service.ts'

const tags = ['music']
const reads = { scopes: ['playlists.read'] as const }
const writes = { scopes: ['playlists.write'] as const }
const missing = { 403: ErrorSchema, 404: ErrorSchema }
const refused = { 400: ErrorSchema, ...missing }

const createPlaylistRoutes = ({ playlists, listPlaylist }: Music): Routes => async (app) => {
  app.get('/api/music/playlists', {
    schema: {
      operationId: 'listPlaylists', tags, summary: 'List your playlists and public ones, by name',
      response: { 200: Type.Array(MusicPlaylistSchema) }
    },
    config: reads
  }, async (request) => playlists.list(contextOf(request)))

  app.post('/api/music/playlists', {
    schema: {
      operationId: 'createPlaylist', tags, summary: 'Create a playlist', body: NewPlaylistSchema,
      response: { 200: MusicPlaylistSchema, 400: ErrorSchema }
    },
    config: writes
  }, async (request) => playlists.create(contextOf(request), request.body))

  app.get('/api/music/playlists/:id', {
    schema: {
      operationId: 'getPlaylist', tags, summary: 'Get a playlist', params: IdParams,
      response: { 200: MusicPlaylistSchema, ...missing }
    },
    config: reads
  }, async (request) => playlists.get(contextOf(request), request.params.id))

  app.put('/api/music/playlists/:id', {
    schema: {
      operationId: 'updatePlaylist', tags, summary: 'Change a playlist of your own', params: IdParams,
      body: PlaylistChangeSchema, response: { 200: MusicPlaylistSchema, ...refused }
    },
    config: writes
  }, async (request) => playlists.update(contextOf(request), request.params.id, request.body))

  app.delete('/api/music/playlists/:id', {
    schema: {
      operationId: 'deletePlaylist', tags, summary: 'Delete a playlist of your own; its music stays', params: IdParams,
      response: { 204: Type.Null(), ...missing }
    },
    config: { ...writes, audit: 'playlist.deleted' }
  }, async (request, reply) => {
    await playlists.delete(contextOf(request), request.params.id)
    reply.code(204)
  })

  app.get('/api/music/playlists/:id/tracks', {
    schema: {
      operationId: 'listPlaylistTracks', tags, summary: 'List the tracks of a playlist that you may see', params: IdParams,
      querystring: ListPlaylistTracksQuery, response: { 200: TrackPageSchema, ...missing }
    },
    config: reads
  }, async (request) => listPlaylist(contextOf(request), request.params.id, request.query))

  app.post('/api/music/playlists/:id/tracks', {
    schema: {
      operationId: 'addPlaylistTracks', tags, summary: 'Append tracks to a playlist of your own', params: IdParams,
      body: TrackIdsSchema, response: { 200: AddedSchema, ...refused }
    },
    config: writes
  }, async (request) =>
    ({ added: await playlists.add(contextOf(request), request.params.id, request.body.rom_file_ids) }))

  app.delete('/api/music/playlists/:id/tracks', {
    schema: {
      operationId: 'removePlaylistTracks', tags, summary: 'Remove tracks from a playlist of your own', params: IdParams,
      body: TrackIdsSchema, response: { 200: RemovedSchema, ...refused }
    },
    config: writes
  }, async (request) =>
    ({ removed: await playlists.remove(contextOf(request), request.params.id, request.body.rom_file_ids) }))

  app.put('/api/music/playlists/:id/tracks/order', {
    schema: {
      operationId: 'orderPlaylistTracks', tags, summary: 'Move tracks of a playlist of your own to the start, in this order',
      description: 'All other tracks follow in their former order.', params: IdParams,
      body: TrackIdsSchema, response: { 204: Type.Null(), ...refused }
    },
    config: writes
  }, async (request, reply) => {
    await playlists.order(contextOf(request), request.params.id, request.body.rom_file_ids)
    reply.code(204)
  })
}

export default createPlaylistRoutes
