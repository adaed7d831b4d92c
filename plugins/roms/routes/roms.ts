import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RouteAccess } from '../../../core/access/auth.ts'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, Nullable, type Routes, StoredText, idOf } from '../../../core/typebox.ts'
import { sendPieces } from '../../../core/web/cached-text.ts'
import { ListRomsQuery, ScopeQuery } from '../filters/list-query.ts'
import {
  DetailedRomSchema, IdListSchema, RomFileSchema, RomFiltersSchema, type RomPage, RomPageSchema,
  RomPropsQuery, RomPropsSchema, RomUserSchema, SimpleRomSchema
} from '../schemas.ts'
import { romSerializer, writeRom } from '../views.ts'

const tags = ['roms']
const reads: RouteAccess = { scopes: ['roms.read'] }
const readsOpen: RouteAccess = { scopes: ['roms.read'], download: true }
const RomParams = Type.Object({ id: idOf('a ROM') })
const FileParams = Type.Object({ file_id: idOf('a file of a ROM') })
const hash = (name: string) => StoredText({ default: '', maxLength: 64, description: `${name} of one of its files, in hex` })
const HashQuery = Type.Object({
  crc_hash: hash('CRC-32'), md5_hash: hash('MD5'), sha1_hash: hash('SHA-1'), ra_hash: hash('The hash of RetroAchievements')
})

const COMMA = Buffer.from(',')

/** Sends a page. The ids come last, as cached text if there are any. */
async function sendPage (request: FastifyRequest, reply: FastifyReply, answer: RomPage): Promise<FastifyReply> {
  const { items, rom_id_index: { texts }, ...page } = answer
  const start = Buffer.concat([
    Buffer.from('{"items":['), ...items.flatMap((rom, index) => index === 0 ? writeRom(rom) : [COMMA, ...writeRom(rom)]),
    Buffer.from(`],${JSON.stringify(page).slice(1, -1)},"rom_id_index":${texts === null ? '[]}' : ''}`)
  ])
  return texts === null
    ? reply.type('application/json; charset=utf-8').send(start)
    : await sendPieces(request, reply, [start, ...texts, '}'])
}

const routes: Routes = async (app) => {
  const { providers, schemas } = app.roms
  schemas.forEach((schema) => { app.addSchema(schema) })
  const ProviderQuery = Type.Object(Object.fromEntries(providers.all.map(({ key, id }) => {
    const options = { description: `Id of the game at the provider ${key}` }
    return [`${key}_id`, Type.Optional(id === 'integer' ? Type.Integer(options) : StoredText(options))]
  })))

  app.get('/api/roms', {
    schema: {
      operationId: 'listRoms', tags, summary: 'List ROMs page by page, filtered and sorted', querystring: ListRomsQuery,
      response: { 200: RomPageSchema }
    },
    config: reads
  }, async (request, reply) => {
    const page = await app.roms.list(contextOf(request), request.query)
    return await sendPage(request, reply, page)
  })

  app.get('/api/roms/identifiers', {
    schema: { operationId: 'listRomIds', tags, summary: 'List the ids of all ROMs by name', response: { 200: IdListSchema } },
    config: reads
  }, async (request, reply) => sendPieces(request, reply, await app.roms.listIds(contextOf(request))))

  app.get('/api/roms/random', {
    schema: {
      operationId: 'getRandomRom', tags, summary: 'Get a random ROM; null if there is none', querystring: ScopeQuery,
      response: { 200: Nullable(SimpleRomSchema) }
    },
    config: reads,
    serializerCompiler: romSerializer
  }, async (request, reply) => {
    // A bare null would send a response without a body.
    const rom = await app.roms.pickRandom(contextOf(request), request.query)
    return rom ?? reply.type('application/json').serializer(JSON.stringify).send(null)
  })

  app.get('/api/roms/by-metadata-provider', {
    schema: {
      operationId: 'getRomByMetadataProvider', tags, summary: 'Get the first ROM with an id of a metadata provider',
      querystring: ProviderQuery, response: { 200: DetailedRomSchema, 400: ErrorSchema }
    },
    config: readsOpen,
    serializerCompiler: romSerializer
  }, async (request) => {
    const query = request.query as Record<string, number | string | undefined>
    const ids = providers.all.flatMap(({ key }) => {
      const id = query[`${key}_id`]
      return id === undefined || id === '' ? [] : [[key, id] as const]
    })
    return await app.roms.findByProviderId(await app.permissions.publicContextOf(request), Object.fromEntries(ids))
  })

  app.get('/api/roms/by-hash', {
    schema: {
      operationId: 'getRomByHash', tags, summary: 'Get the first ROM with a hash, its own or of one of its files',
      querystring: HashQuery,
      response: { 200: DetailedRomSchema, 400: ErrorSchema, 404: ErrorSchema }
    },
    config: readsOpen,
    serializerCompiler: romSerializer
  }, async (request) => app.roms.findByHash(await app.permissions.publicContextOf(request), request.query))

  app.get('/api/roms/filters', {
    schema: { operationId: 'getRomFilters', tags, summary: 'List all filter values of ROMs', response: { 200: RomFiltersSchema } },
    config: reads
  }, async (request) => app.roms.listFilterValues(contextOf(request)))

  app.get('/api/roms/:id', {
    schema: { operationId: 'getRom', tags, summary: 'Get a ROM with all details', params: RomParams, response: { 200: DetailedRomSchema } },
    config: readsOpen,
    serializerCompiler: romSerializer
  }, async (request) => app.roms.getDetailed(await app.permissions.publicContextOf(request), request.params.id))

  app.get('/api/roms/:id/simple', {
    schema: { operationId: 'getSimpleRom', tags, summary: 'Get a ROM in the form of lists', params: RomParams, response: { 200: SimpleRomSchema } },
    config: readsOpen,
    serializerCompiler: romSerializer
  }, async (request) => app.roms.getSimple(await app.permissions.publicContextOf(request), request.params.id))

  app.put('/api/roms/:id/props', {
    schema: {
      operationId: 'updateRomProps', tags, summary: 'Set your own marks on a ROM', params: RomParams,
      querystring: RomPropsQuery, body: RomPropsSchema, response: { 200: RomUserSchema }
    },
    config: { scopes: ['roms.user.write'] }
  }, async (request) => {
    const { data, update_last_played: update, remove_last_played: remove, ...marks } = request.body
    return await app.roms.mark(contextOf(request), request.params.id, {
      marks: { ...marks, ...data },
      updateLastPlayed: request.query.update_last_played || update === true,
      removeLastPlayed: request.query.remove_last_played || remove === true
    })
  })

  app.get('/api/roms/:file_id/files', {
    schema: { operationId: 'getRomFile', tags, summary: 'Get a file of a ROM by its id', params: FileParams, response: { 200: RomFileSchema } },
    config: reads
  }, async (request) => app.roms.getFile(contextOf(request), request.params.file_id))
}

export default routes
