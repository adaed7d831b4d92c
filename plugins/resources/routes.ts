import { Type } from '@sinclair/typebox'
import type { Routes } from '../../core/typebox.ts'

const Params = Type.Object({ '*': Type.String() })
const YEAR_SECONDS = 31_536_000
const PREFIXES = ['/assets/romm/resources', '/assets/svc/resources']

/** An address with a version names one state of the file for ever. */
function cacheControlOf (url: string): string {
  const isVersioned = /[?&](?:ts|v)=/.test(url)
  return isVersioned ? `public, max-age=${YEAR_SECONDS}, immutable` : 'public, max-age=3600, must-revalidate'
}

const routes: Routes = async (app) => {
  app.addHook('onSend', async (_request, reply) => {
    // What any cache may keep must not carry one visitor's cookies.
    reply.removeHeader('set-cookie')
  })
  for (const prefix of PREFIXES) {
    for (const method of ['HEAD', 'GET'] as const) {
      app.route({
        method,
        url: `${prefix}/*`,
        exposeHeadRoute: false,
        schema: { hide: true, params: Params },
        config: { public: true },
        handler: async (request, reply) => {
          const { handle, type } = await app.resources.open(request.params['*'])
          reply.header('cross-origin-resource-policy', 'cross-origin')
          return await app.files.send(request, reply, { handle, type, cacheControl: cacheControlOf(request.url) })
        }
      })
    }
  }
}

export default routes
