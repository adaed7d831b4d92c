import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import { callerOf, type RouteAccess } from '../../core/access/auth.ts'
import { contextOf } from '../../core/access/context.ts'
import { ErrorSchema, type Routes } from '../../core/typebox.ts'
import { CoverGroupSchema, SearchCoversQuery, SearchRomsQuery, createSearchedGameSchema } from './schemas.ts'
import type { Results } from './service.ts'

const tags = ['search']
const reads: RouteAccess = { scopes: ['roms.read'] }
const refusals = { 500: ErrorSchema, 502: ErrorSchema, 503: ErrorSchema }
const SKIPPED_HEADER = 'Providers that did not answer are in the header `X-Left-Out`: JSON, a list of `provider`, `reason` and `until`'

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
}

export default routes
