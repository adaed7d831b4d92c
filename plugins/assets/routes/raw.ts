import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import { ApiError, notFound } from '../../../core/errors.ts'
import type { Routes } from '../../../core/typebox.ts'

const Params = Type.Object({ '*': Type.String() })
const AVATAR = /^users\/[^/]+\/profile\/[^/]+$/

/** A path only selects a row or an avatar; it is never opened as a file path. */
function open (app: FastifyInstance, request: FastifyRequest, path: string) {
  return AVATAR.test(path) ? app.users.openAvatar(path) : app.assets.openAt(contextOf(request), path)
}

/** Older apps request uploads at the first URL; RomM's pages request avatars at the second. */
const URLS = ['/api/raw/assets/*', '/assets/romm/assets/*']

/** Uploads of users by their paths. */
const routes: Routes = async (app) => {
  for (const url of URLS) {
    app.route({
      method: ['HEAD', 'GET'],
      url,
      exposeHeadRoute: false,
      schema: { hide: true, params: Params },
      config: { scopes: ['assets.read'] },
      handler: async (request, reply) => {
        try {
          return await app.files.sendObject(request, reply, await open(app, request, request.params['*']))
        } catch (err) {
          if (err instanceof ApiError && err.code === 'NOT_FOUND') throw notFound('Asset not found')
          throw err
        }
      }
    })
  }
}

export default routes
