import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { type RouteAccess, isGuest, requireScope } from '../../../core/access/auth.ts'
import { type Context, contextOf } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import { ApiError, badRequest } from '../../../core/errors.ts'
import type { Routes } from '../../../core/typebox.ts'
import { confirmCaller } from '../../auth/confirm-caller.ts'
import type { Webdav } from '../service.ts'
import { createPrecondition } from '../sync/precondition.ts'
import { readKey } from '../sync/read-key.ts'
import { type Resource, toHref, yieldAll } from '../tree/multistatus.ts'
import { listSynced } from '../tree/sync-tree.ts'
import { LIBRARY, ROOT, addressOf, partsOf, pathBelow, readDepth, sendResources } from './addresses.ts'

const MANIFEST = 'manifest.server'
/** The folder to which RetroArch moves files that its user deleted; the server never lists it. */
const DELETED = 'deleted'
const ALLOW = 'OPTIONS, GET, HEAD, PUT, DELETE, MKCOL, MOVE, PROPFIND'
const ERROR = 400

const READS: RouteAccess = { scopes: ['assets.read'], tokenAsPassword: true }
const WRITES: RouteAccess = { scopes: ['assets.write'], tokenAsPassword: true }
const LOOKS: RouteAccess = { scopes: ['assets.read'], orScopes: ['roms.read'], tokenAsPassword: true }
/** The API document cannot describe methods of WebDAV. */
const hidden = (config: RouteAccess): RouteShorthandOptions => ({ schema: { hide: true }, config })

/** Empties errors: RetroArch up to 1.22.2 writes past its buffer to log one, and some over the file on the device. */
function emptyError (
  _request: FastifyRequest, reply: FastifyReply, payload: unknown, done: (err: null, payload: unknown) => void
): void {
  if (reply.statusCode < ERROR) return done(null, payload)
  reply.removeHeader('content-type')
  done(null, null)
}

/** Refuses guests of the kiosk mode, who have no files. They may look at the root, for the library in it. */
function refuseGuest (request: FastifyRequest, root: string): void {
  const { caller, method } = request
  if (!isGuest(caller) || method === 'OPTIONS' || (method === 'PROPFIND' && pathBelow(request, root) === '')) return
  throw new ApiError('NOT_AUTHENTICATED')
}

/** @throws ApiError BAD_REQUEST for a part of a file, which would replace the whole file. See RFC 9110, 14.5 */
function refusePart ({ headers }: FastifyRequest): void {
  if (headers['content-range'] !== undefined) throw badRequest('Files are not written in parts; send the whole file without Content-Range')
}

const bodyOf = ({ body }: FastifyRequest): Readable => body instanceof Readable ? body : Readable.from([])

/** @throws ApiError FORBIDDEN unless a move is the deletion of a file */
function requireDeletion ({ headers: { destination } }: FastifyRequest, root: string): void {
  const path = typeof destination === 'string' && URL.canParse(destination, 'http://server') ? new URL(destination, 'http://server').pathname : ''
  if (path.includes(`${root}/${DELETED}/`)) return
  throw new ApiError('FORBIDDEN', `Files can only be moved to ${root}/${DELETED}/, which deletes them; store the file under its new name and delete the old one`)
}

async function * listRoot (context: Context, config: Config, root: string, depth: 0 | 1): AsyncGenerator<Resource> {
  const { scopes } = context.caller
  const hasFiles = scopes.has('assets.read') && !isGuest(context.caller)
  const synced = hasFiles ? await listSynced(context, addressOf(config, root), [], depth) : []
  yield { href: `${addressOf(config, root)}/`, name: 'webdav', file: null, modified_at: null }
  yield * synced.slice(1)
  if (depth === 0 || root !== ROOT || !scopes.has('roms.read')) return
  yield { href: toHref(addressOf(config, LIBRARY), [], true), name: 'library', file: null, modified_at: null }
}

/** The files that RetroArch syncs, below a root. */
export default (config: Config, webdav: Webdav, root: string): Routes => async (app) => {
  app.addHook('onSend', emptyError)
  app.addHook('onRequest', async (request) => { refuseGuest(request, root) })

  const deviceOf = (request: FastifyRequest) => webdav.withDevice(contextOf(request))

  async function deleteFile (request: FastifyRequest): Promise<void> {
    const path = pathBelow(request, root)
    if (path === MANIFEST) return
    await webdav.delete(await deviceOf(request), readKey(path), createPrecondition(request.headers))
  }

  for (const url of [root, `${root}/*`]) {
    app.route({
      method: 'OPTIONS',
      url,
      ...hidden(LOOKS),
      handler: async (_request, reply) => await reply.headers({ allow: ALLOW, dav: '1' }).send()
    })

    app.route({
      method: 'PROPFIND',
      url,
      ...hidden(LOOKS),
      handler: async (request, reply) => {
        const depth = readDepth(request)
        const parts = partsOf(pathBelow(request, root))
        const context = contextOf(request)
        if (parts.length === 0) return sendResources(reply, listRoot(context, config, root, depth))
        requireScope(context.caller, 'assets.read')
        return sendResources(reply, yieldAll(await listSynced(context, addressOf(config, root), parts, depth)))
      }
    })
  }

  app.route({
    method: 'GET',
    url: `${root}/*`,
    exposeHeadRoute: false,
    ...hidden(READS),
    handler: async (request, reply) => {
      const path = pathBelow(request, root)
      const context = await deviceOf(request)
      if (path === MANIFEST) return await reply.type('application/json').send(await webdav.list(context))
      const isWhole = request.headers.range === undefined
      return await app.files.sendObject(request, reply, await webdav.read(context, readKey(path), isWhole))
    }
  })

  app.route({
    method: 'HEAD',
    url: `${root}/*`,
    ...hidden(READS),
    // A list is stored as what the device was told, so its length is not known without telling it.
    handler: async (request, reply) => {
      const path = pathBelow(request, root)
      if (path === MANIFEST) return await reply.type('application/json').send()
      return await app.files.sendObject(request, reply, await webdav.look(contextOf(request), readKey(path)))
    }
  })

  app.route({
    method: 'MKCOL',
    url: `${root}/*`,
    ...hidden(WRITES),
    // Folders exist as long as they have files.
    handler: async (_request, reply) => await reply.code(201).send()
  })

  app.route({
    method: 'PUT',
    url: `${root}/*`,
    ...hidden(WRITES),
    handler: async (request, reply) => {
      refusePart(request)
      await app.assets.checkLength(request)
      const path = pathBelow(request, root)
      const body = bodyOf(request)
      // Each list is made from the database, so the list of a client is read and dropped.
      if (path === MANIFEST) for await (const _chunk of body) continue
      else {
        const checks = { check: createPrecondition(request.headers), confirm: () => confirmCaller(request) }
        await webdav.put(await deviceOf(request), readKey(path), body, checks)
      }
      return await reply.code(201).send()
    }
  })

  app.route({
    method: 'DELETE',
    url: `${root}/*`,
    ...hidden(WRITES),
    handler: async (request, reply) => {
      await deleteFile(request)
      return await reply.send()
    }
  })

  app.route({
    method: 'MOVE',
    url: `${root}/*`,
    ...hidden(WRITES),
    handler: async (request, reply) => {
      requireDeletion(request, root)
      await deleteFile(request)
      return await reply.code(201).send()
    }
  })
}
