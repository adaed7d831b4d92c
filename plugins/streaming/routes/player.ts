import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { type RouteAccess, callerOf } from '../../../core/access/auth.ts'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, InvalidSchema, type Routes } from '../../../core/typebox.ts'
import {
  BusySchema, ClaimSchema, DiscSwappedSchema, FrameKeptSchema, JoinQuery, JoinableQuery, JoinableSessionsSchema,
  JoinedSessionSchema, LaunchingSessionSchema, MemoryCardPromptSchema, MuteSchema, MuteSetSchema,
  PlatformParams, ReleaseQuery, ReleasedSchema, SaveAndExitSchema, SavedSchema, SessionStatusSchema, SlotSchema,
  StateLoadedSchema, StateSavedSchema, StreamingConfigSchema, SwapDiscSchema, VolumeSchema, VolumeSetSchema
} from '../schemas.ts'

const tags = ['streaming']
const reads: RouteAccess = { scopes: ['roms.read'] }
const plays: RouteAccess = { scopes: ['roms.user.write'] }
const OWNER = { 403: ErrorSchema, 404: ErrorSchema }
const CONTROL = { ...OWNER, 502: ErrorSchema }
const SLOT = { 422: InvalidSchema }

const routes: Routes = async (app) => {
  const { streaming } = app

  app.get('/api/streaming/config', {
    schema: {
      operationId: 'getStreamingConfig', tags, summary: 'List the machines for games and their capabilities',
      response: { 200: StreamingConfigSchema }
    },
    config: reads
  }, async (request) => streaming.describeConfig(contextOf(request)))

  app.post('/api/streaming/sessions', {
    schema: {
      operationId: 'claimStreamingSession',
      tags,
      summary: 'Reserve a machine for a game and start it there',
      description: 'The events `streaming:launch-phase`, `streaming:launch-ready` and `streaming:launch-failed` report the ' +
        'progress.',
      body: ClaimSchema,
      response: {
        202: LaunchingSessionSchema,
        404: ErrorSchema,
        409: BusySchema,
        428: MemoryCardPromptSchema,
        502: ErrorSchema,
        503: ErrorSchema
      }
    },
    config: plays
  }, async (request, reply) => {
    const session = await streaming.claim(contextOf(request), request.body)
    return reply.code(202).send(session)
  })

  app.get('/api/streaming/sessions/joinable', {
    schema: {
      operationId: 'listJoinableStreamingSessions', tags, summary: 'List games of other users that are open for joining',
      querystring: JoinableQuery, response: { 200: JoinableSessionsSchema }
    },
    config: reads
  }, async (request) => ({
    sessions: await streaming.listJoinable(contextOf(request), request.query.rom_id)
  }))

  app.post('/api/streaming/sessions/:platform/save-and-exit', {
    schema: {
      operationId: 'saveAndExitStreamingSession',
      tags,
      summary: 'Save the game and release the machine, even if saving fails',
      params: PlatformParams,
      body: SaveAndExitSchema,
      response: { 200: SavedSchema, ...OWNER, ...SLOT }
    },
    config: plays
  }, async (request) => {
    const { params: { platform }, body: { slot, wait } } = request
    const saved = await streaming.saveAndExit(contextOf(request), platform, slot, wait)
    return { status: 'ok' as const, saved, platform, released: wait }
  })

  app.post('/api/streaming/sessions/:platform/volume', {
    schema: {
      operationId: 'setStreamingVolume', tags, summary: 'Set the volume of the game', params: PlatformParams, body: VolumeSchema,
      response: { 200: VolumeSetSchema, ...CONTROL }
    },
    config: plays
  }, async (request) => {
    const { params: { platform }, body: { level } } = request
    await streaming.setVolume(callerOf(request), platform, level)
    return { status: 'ok' as const, level, platform }
  })

  app.post('/api/streaming/sessions/:platform/mute', {
    schema: {
      operationId: 'muteStreamingSession', tags, summary: 'Mute or unmute the game', params: PlatformParams,
      body: MuteSchema, response: { 200: MuteSetSchema, ...CONTROL }
    },
    config: plays
  }, async (request) => {
    const { params: { platform }, body } = request
    const mute = await streaming.mute(callerOf(request), platform, body.mute ?? null)
    return { status: 'ok' as const, mute, platform }
  })

  app.post('/api/streaming/sessions/:platform/save-state', {
    schema: {
      operationId: 'saveStreamingState', tags, summary: 'Save a state to a slot', params: PlatformParams, body: SlotSchema,
      response: { 200: StateSavedSchema, ...CONTROL, ...SLOT }
    },
    config: plays
  }, async (request) => {
    const { params: { platform }, body: { slot } } = request
    await streaming.saveState(callerOf(request), platform, slot)
    return { status: 'saving' as const, slot, platform }
  })

  app.post('/api/streaming/sessions/:platform/load-state', {
    schema: {
      operationId: 'loadStreamingState', tags, summary: 'Load the state of a slot', params: PlatformParams, body: SlotSchema,
      response: { 200: StateLoadedSchema, ...CONTROL, ...SLOT }
    },
    config: plays
  }, async (request) => {
    const { params: { platform }, body: { slot } } = request
    await streaming.loadState(callerOf(request), platform, slot)
    return { status: 'ok' as const, loaded: true as const, slot, platform }
  })

  app.delete('/api/streaming/sessions/:platform', {
    schema: {
      operationId: 'releaseStreamingSession', tags, summary: 'End a game and release the machine', params: PlatformParams,
      querystring: ReleaseQuery, response: { 200: ReleasedSchema, 403: ErrorSchema }
    },
    config: plays
  }, async (request) => {
    const { params: { platform }, query } = request
    const isReleased = await streaming.release(contextOf(request), platform, query)
    return { status: isReleased ? 'released' as const : 'not_found' as const, platform }
  })

  app.post('/api/streaming/sessions/:platform/heartbeat', {
    schema: {
      operationId: 'sendStreamingHeartbeat',
      tags,
      summary: 'Report that you still play',
      description: 'A client that sent a heartbeat, and then none for 90 seconds, loses the machine to the next claim.',
      params: PlatformParams,
      response: { 200: SessionStatusSchema, 404: ErrorSchema }
    },
    config: plays
  }, async (request) => streaming.storeHeartbeat(contextOf(request), request.params.platform))

  app.get('/api/streaming/sessions/:platform/status', {
    schema: {
      operationId: 'getStreamingStatus', tags, summary: 'Get your session on a platform, or once the end of the last one',
      params: PlatformParams, response: { 200: SessionStatusSchema, 404: ErrorSchema }
    },
    config: reads
  }, async (request) => streaming.status(callerOf(request), request.params.platform))

  app.post('/api/streaming/sessions/:platform/join', {
    schema: {
      operationId: 'joinStreamingSession', tags, summary: 'Join a game of another user that is open for joining', params: PlatformParams,
      querystring: JoinQuery, response: { 200: JoinedSessionSchema, ...CONTROL, 409: ErrorSchema }
    },
    config: reads
  }, async (request) =>
    streaming.join(contextOf(request), request.params.platform, request.query.container))

  app.post('/api/streaming/sessions/:platform/swap-disc', {
    schema: {
      operationId: 'swapStreamingDisc', tags, summary: 'Insert another disc of the game', params: PlatformParams,
      body: SwapDiscSchema, response: { 200: DiscSwappedSchema, ...CONTROL, 400: ErrorSchema, 409: ErrorSchema }
    },
    config: plays
  }, async (request) => {
    const { params: { platform }, body: { file_id: fileId } } = request
    await streaming.swapDisc(contextOf(request), platform, fileId)
    return { status: 'ok' as const, file_id: fileId, platform }
  })

  await app.register(frames)
}

/** Routes whose body is the picture itself. */
const frames: Routes = async (app) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request: FastifyRequest, payload, done) => { done(null, payload) })

  app.post('/api/streaming/sessions/:platform/state-frame', {
    schema: {
      operationId: 'addStreamingFrame', tags, summary: 'Store a picture of the game as a screenshot', params: PlatformParams,
      consumes: ['image/png'],
      response: {
        200: FrameKeptSchema, ...OWNER, 400: ErrorSchema, 409: ErrorSchema, 413: ErrorSchema, 507: ErrorSchema
      }
    },
    config: plays
  }, async (request) => {
    const { params: { platform } } = request
    const frame = (request.body ?? Readable.from([])) as Readable
    await app.streaming.storeFrame(contextOf(request), platform, frame)
    return { status: 'ok' as const, platform }
  })
}

export default routes
