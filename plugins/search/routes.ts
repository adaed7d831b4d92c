import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import { callerOf, type RouteAccess } from '../../core/access/auth.ts'
import { contextOf } from '../../core/access/context.ts'
import { ErrorSchema, type Routes, bytesOf } from '../../core/typebox.ts'
import { CoverGroupSchema, PictureQuery, SearchCoversQuery, SearchRomsQuery, createSearchedGameSchema } from './schemas.ts'
import type { Results } from './service.ts'

const tags = ['search']
/** A picture at an address rarely changes, and people look at the same ones again. */
const PICTURE_CACHE = 'private, max-age=86400'
const reads: RouteAccess = { scopes: ['roms.read'] }
const refusals = { 500: ErrorSchema, 502: ErrorSchema, 503: ErrorSchema }
const SKIPPED_HEADER = 'Providers that did not answer are in the header `X-Left-Out`: JSON, a list of `provider`, ' +
  '`code` (`not_called`, `timeout`, `paused`, `refused`, `failed`, `no_numbers` or `unknown_platform`), `reason` and `until`'

/** Escapes all other characters, because headers are ASCII. */
const toHeader = (value: unknown) => JSON.stringify(value)
  .replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Names skipped providers in a header, because the body has no field for them. */
function sendResults<View> (reply: FastifyReply, { results, skipped }: Results<View>): View[] {
  if (skipped.length > 0) reply.header('x-left-out', toHeader(skipped))
  return results
}

const routes: Routes = async (app) => {
  app.get('/api/search/roms', {
    schema: {
      operationId: 'searchRoms', tags, summary: 'Search games for a ROM at metadata providers', description: SKIPPED_HEADER,
      querystring: SearchRomsQuery,
      response: { 200: Type.Array(createSearchedGameSchema(app.roms.providers)), 400: ErrorSchema, ...refusals }
    },
    config: reads
  }, async (request, reply) =>
    sendResults(reply, await app.providerSearch.games(contextOf(request), request.query)))

  app.get('/api/search/cover', {
    schema: {
      operationId: 'searchCovers', tags, summary: 'Search covers at artwork providers, by game', description: SKIPPED_HEADER,
      querystring: SearchCoversQuery,
      response: { 200: Type.Array(CoverGroupSchema), ...refusals }
    },
    config: reads
  }, async (request, reply) =>
    sendResults(reply, await app.providerSearch.covers(callerOf(request), request.query.search_term)))

  app.get('/api/search/picture', {
    schema: {
      operationId: 'getSearchPicture', tags, summary: 'Show a picture of a search, small',
      description: 'The server downloads the picture and answers with a small WebP, because pages load nothing from other servers.',
      querystring: PictureQuery, response: { 200: bytesOf('image/webp'), 400: ErrorSchema }
    },
    config: { scopes: ['roms.write'] }
  }, async (request, reply) => {
    const picture = await app.providerSearch.picture(request.query.url)
    return reply.type('image/webp').header('cache-control', PICTURE_CACHE).send(picture)
  })
}

export default routes
