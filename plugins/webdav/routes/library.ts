import type { RouteAccess } from '../../../core/access/auth.ts'
import { contextOf } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import { forbidden } from '../../../core/errors.ts'
import type { Routes } from '../../../core/typebox.ts'
import { createLibraryTree } from '../tree/library-tree.ts'
import { LIBRARY, addressOf, partsOf, pathBelow, readDepth, sendResources } from './addresses.ts'

const ALLOW = 'OPTIONS, GET, HEAD, PROPFIND'
const access: RouteAccess = { scopes: ['roms.read'], tokenAsPassword: true }
const hidden = { schema: { hide: true }, config: access }

/** The library as read-only files and folders. */
export default (config: Config): Routes => async (app) => {
  const tree = createLibraryTree(app)

  for (const url of [LIBRARY, `${LIBRARY}/*`]) {
    app.route({
      method: 'OPTIONS', url, ...hidden, handler: async (_request, reply) => await reply.headers({ allow: ALLOW, dav: '1' }).send()
    })

    app.route({
      method: 'PROPFIND',
      url,
      ...hidden,
      handler: async (request, reply) => {
        const depth = readDepth(request)
        const parts = partsOf(pathBelow(request, LIBRARY))
        return sendResources(reply, await tree.list(contextOf(request), addressOf(config, LIBRARY), parts, depth))
      }
    })

    app.route({
      method: ['PUT', 'DELETE', 'MKCOL', 'MOVE'],
      url,
      ...hidden,
      handler: async () => {
        throw forbidden('The library is read-only through WebDAV; upload, rename and delete ROMs with /api/roms')
      }
    })

    for (const method of ['HEAD', 'GET'] as const) {
      app.route({
        method,
        url,
        exposeHeadRoute: false,
        ...hidden,
        handler: async (request, reply) => await app.files.send(request, reply,
          await tree.open(contextOf(request), partsOf(pathBelow(request, LIBRARY))))
      })
    }
  }
}
