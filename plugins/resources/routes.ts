import { Type } from '@sinclair/typebox'
import { callerOf, requireScope } from '../../core/access/auth.ts'
import type { Routes } from '../../core/typebox.ts'
import { RESOURCES_PREFIX } from './addresses.ts'
import type { Resource } from './service.ts'

const Params = Type.Object({ '*': Type.String() })
const YEAR_SECONDS = 31_536_000
const PREFIXES = [RESOURCES_PREFIX, '/assets/svc/resources']

/** An address with a version names one state of the file forever. */
function cacheControlOf (url: string, { isOpen }: Resource): string {
  if (!isOpen) return 'private, no-cache'
  const isVersioned = /[?&](?:ts|v)=/.test(url)
  return isVersioned ? `public, max-age=${YEAR_SECONDS}, immutable` : 'public, max-age=3600, must-revalidate'
}

const routes: Routes = async (app) => {
  app.addHook('onSend', async (_request, reply) => {
    // Shared caches store this response, so it must not carry a visitor's cookies.
    reply.removeHeader('set-cookie')
  })
  for (const prefix of PREFIXES) {
    for (const method of ['HEAD', 'GET'] as const) {
      app.route({
        method,
        url: `${prefix}/*`,
        exposeHeadRoute: false,
        schema: { hide: true, params: Params },
        // The address itself may grant access, because pictures in pages send no token.
        config: { public: true },
        handler: async (request, reply) => {
          const resource = app.resources.find(request.params['*'])
          if (resource.isOpen) reply.header('cross-origin-resource-policy', 'cross-origin')
          else {
            const caller = callerOf(request)
            requireScope(caller, 'roms.read')
            await app.resources.checkVisible({ db: request.db, caller }, resource)
          }
          const object = await app.resources.open(resource)
          const cacheControl = cacheControlOf(request.url, resource)
          return await app.files.sendObject(request, reply, { object, type: resource.type, cacheControl })
        }
      })
    }
  }
}

export default routes
