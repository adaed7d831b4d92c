import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RouteAccess } from '../../core/access/auth.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { ErrorSchema } from '../../core/typebox.ts'
import { sendStream } from '../../core/web/compression.ts'
import { ROM_FILE_CATEGORIES } from '../entries/categories.ts'
import { selectPlatforms } from '../platforms/rows.ts'
import { feedsConfig } from './config.ts'
import { writeFpkgi } from './formats/fpkgi.ts'
import { writeKekatsu } from './formats/kekatsu.ts'
import { PKGI_TYPES, writePkgi } from './formats/pkgi.ts'
import { PKGJ_KINDS, writePkgj } from './formats/pkgj.ts'
import { UNKNOWN_PLATFORM, writeTinfoil } from './formats/tinfoil.ts'
import { writeWebrcade } from './formats/webrcade.ts'
import { createLinks } from './links.ts'
import type { Feed } from './pages.ts'
import { selectPlatformsOf } from './rows.ts'
import {
  ContentTypeParams, FpkgiQuery, FpkgiSchema, PlatformParams, TextResponse, TinfoilQuery, TinfoilSchema, WebrcadeSchema
} from './schemas.ts'
import type { Titles } from './titles/titles.ts'

const tags = ['feeds']
/** The database time of a feed, which reads the library in many short statements. */
const config: RouteAccess & { databaseMs: number } = { scopes: ['roms.read'], download: true, databaseMs: 600_000 }
const CHALLENGE = 'Bearer, Basic realm="svc", charset="UTF-8"'
const NOT_FOUND = 'Answers 404 if the platform is not in the library or is hidden from you'
const NOT_KNOWN = `${NOT_FOUND}, and 400 for an unknown type of content`

const CONSOLES = { ps3: 'PlayStation 3', psvita: 'PlayStation Vita', psp: 'PlayStation Portable', psx: 'PlayStation' } as const
type Console = keyof typeof CONSOLES
const OPERATION_NAMES: Readonly<Record<Console, string>> = {
  ps3: 'PsThree', psvita: 'PsVita', psp: 'Psp', psx: 'Psx'
}
const PKGI_KINDS = Object.keys(PKGI_TYPES)
/** The content types of each console. */
const PKGI_CONSOLES = [['ps3', PKGI_KINDS], ['psvita', ROM_FILE_CATEGORIES], ['psp', PKGI_KINDS]] as const

/** Replaces characters that this header cannot hold without quotes. */
const toPlainName = (name: string) => name.replaceAll(/[^\w.-]/g, '_')

/** A HEAD request skips the work of creating the text. */
function send (request: FastifyRequest, reply: FastifyReply, type: string, text: AsyncIterable<string>): FastifyReply {
  return sendStream(request, reply.type(type), Readable.from(request.method === 'HEAD' ? [] : text))
}

const sendJson = (request: FastifyRequest, reply: FastifyReply, text: AsyncIterable<string>) =>
  send(request, reply, 'application/json; charset=utf-8', text)

function sendText (
  request: FastifyRequest, reply: FastifyReply, name: string, text: AsyncIterable<string>
): FastifyReply {
  reply.headers({ 'cache-control': 'no-cache', 'content-disposition': `filename=${toPlainName(name)}` })
  return send(request, reply, 'text/plain; charset=utf-8', text)
}

function checkContentType (contentType: string, known: readonly string[]): void {
  if (!known.includes(contentType)) throw badRequest(`Invalid content type: ${contentType}`)
}

const routes: FeatureRoutes<Titles> = async (app, { config: settings }, titles) => {
  // Programs on consoles send a password only in reply to a challenge.
  app.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode === 401) reply.header('www-authenticate', CHALLENGE)
  })

  /** @param slug of the platforms in the feed; null for all platforms that the caller sees */
  async function open (request: FastifyRequest, slug: string | null): Promise<Feed> {
    const context = await app.permissions.publicContextOf(request)
    const platforms = await (slug === null ? selectPlatforms(context) : selectPlatformsOf(context, slug))
    return { ...context, platforms, links: createLinks(request, settings, app.resources.marked) }
  }

  /** @throws ApiError NOT_FOUND if there is no such platform */
  async function openPlatform (request: FastifyRequest, slug: string, message: string): Promise<Feed> {
    const feed = await open(request, slug)
    if (feed.platforms.length === 0) throw notFound(message)
    return feed
  }

  const openConsole = (request: FastifyRequest, slug: Console) =>
    openPlatform(request, slug, `${CONSOLES[slug]} platform not found`)
  const openAny = (request: FastifyRequest, slug: string) => openPlatform(request, slug, `Platform ${slug} not found`)

  app.get('/api/feeds/webrcade', {
    schema: {
      operationId: 'getWebrcadeFeed', tags, summary: 'Get the feed of games for webЯcade', response: { 200: WebrcadeSchema }
    },
    config
  }, async (request, reply) => sendJson(request, reply, writeWebrcade(await open(request, null))))

  app.get('/api/feeds/webrcade/:platform_slug', {
    schema: {
      operationId: 'getWebrcadePlatformFeed', tags, summary: 'Get the feed of games of a platform for webЯcade', description: `${NOT_FOUND}.`,
      params: PlatformParams, response: { 200: WebrcadeSchema, 400: ErrorSchema, 404: ErrorSchema }
    },
    config
  }, async (request, reply) =>
    sendJson(request, reply, writeWebrcade(await openAny(request, request.params.platform_slug))))

  app.get('/api/feeds/tinfoil', {
    schema: {
      operationId: 'getTinfoilFeed',
      tags,
      summary: 'Get the feed of games and updates that Tinfoil can install on a Switch',
      description:
        'If the platform is not in the library, or is hidden from you, `error` has the reason. `titledb` contains the ' +
        'titles that the task `update_switch_titledb` downloaded.',
      querystring: TinfoilQuery,
      response: { 200: TinfoilSchema }
    },
    config
  }, async (request, reply) => {
    const feed = await open(request, request.query.slug)
    if (feed.platforms.length === 0) return UNKNOWN_PLATFORM
    return sendJson(request, reply, writeTinfoil(feed, titles, feedsConfig.of(settings).tinfoil_welcome_message))
  })

  for (const [console, kinds] of PKGI_CONSOLES) {
    app.get(`/api/feeds/pkgi/${console}/:content_type`, {
      schema: {
        operationId: `getPkgi${OPERATION_NAMES[console]}Feed`,
        tags,
        summary: `Get the feed of packages that PKGi can install on a ${CONSOLES[console]}`,
        description: `${NOT_KNOWN}. The types are: ${kinds.join(', ')}.`,
        params: ContentTypeParams,
        response: { 200: TextResponse, 400: ErrorSchema, 404: ErrorSchema }
      },
      config
    }, async (request, reply) => {
      const { content_type: contentType } = request.params
      const feed = await openConsole(request, console)
      checkContentType(contentType, kinds)
      return sendText(request, reply, `pkgi_${contentType}.txt`, writePkgi(feed, contentType, console !== 'psvita'))
    })
  }

  app.get('/api/feeds/fpkgi/:platform_slug', {
    schema: {
      operationId: 'getFpkgiFeed',
      tags,
      summary: 'Get the feed of packages that FPKGi can install',
      description: `${NOT_KNOWN}. The types are: ${ROM_FILE_CATEGORIES.join(', ')}.`,
      params: PlatformParams,
      querystring: FpkgiQuery,
      response: { 200: FpkgiSchema, 400: ErrorSchema }
    },
    config
  }, async (request, reply) => {
    const { content_type: contentType } = request.query
    const feed = await openAny(request, request.params.platform_slug)
    if (contentType !== undefined) checkContentType(contentType, ROM_FILE_CATEGORIES)
    reply.header('cache-control', 'no-cache')
    return sendJson(request, reply, writeFpkgi(feed, contentType))
  })

  app.get('/api/feeds/kekatsu/:platform_slug', {
    schema: {
      operationId: 'getKekatsuFeed', tags, summary: 'Get the feed of ROMs of a platform for Kekatsu', description: `${NOT_FOUND}.`,
      params: PlatformParams, response: { 200: TextResponse, 400: ErrorSchema, 404: ErrorSchema }
    },
    config
  }, async (request, reply) => {
    const { platform_slug: slug } = request.params
    return sendText(request, reply, `kekatsu_${slug}.txt`, writeKekatsu(await openAny(request, slug)))
  })

  for (const [place, kind] of Object.entries(PKGJ_KINDS)) {
    const name = place.replace('/', '_')
    app.get(`/api/feeds/pkgj/${place}`, {
      schema: {
        operationId: `getPkgj${OPERATION_NAMES[kind.platform]}${kind.content_type === 'game' ? 'Games' : 'Dlc'}Feed`,
        tags,
        summary: `Get the feed of ${kind.content_type === 'game' ? 'games' : 'DLC'} of the ${CONSOLES[kind.platform]} for PKGj`,
        description: `${NOT_FOUND}.`,
        response: { 200: TextResponse, 400: ErrorSchema, 404: ErrorSchema }
      },
      config
    }, async (request, reply) => {
      const feed = await openConsole(request, kind.platform)
      return sendText(request, reply, `pkgj_${name}.txt`, writePkgj(feed, kind))
    })
  }
}

export default routes
