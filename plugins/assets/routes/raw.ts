import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from '@sinclair/typebox'
import { callerOf } from '../../../core/access/auth.ts'
import { ApiError, notFound } from '../../../core/errors.ts'
import type { Routes } from '../../../core/typebox.ts'

const Params = Type.Object({ '*': Type.String() })
const AVATAR = /^users\/[^/]+\/profile\/[^/]+$/

/** What a path names is found by it, and never opened by it. */
function open (app: FastifyInstance, request: FastifyRequest, path: string) {
  return AVATAR.test(path) ? app.users.openAvatar(path) : app.assets.openAt(request.em, callerOf(request), path)
}

/** What users uploaded by its path, as older apps ask for it. */
const routes: Routes = async (app) => {
  for (const method of ['HEAD', 'GET'] as const) {
    app.route({
      method,
      url: '/api/raw/assets/*',
      exposeHeadRoute: false,
      schema: { hide: true, params: Params },
      config: { scopes: ['assets.read'] },
      handler: async (request, reply) => {
        try {
          return await app.files.send(request, reply, await open(app, request, request.params['*']))
        } catch (err) {
          if (err instanceof ApiError && err.code === 'NOT_FOUND') throw notFound('Asset not found')
          throw err
        }
      }
    })
  }
}

export default routes
