import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, IdParams, type Routes } from '../../../core/typebox.ts'
import { CONTENT, ContentQuery } from '../schemas.ts'

const KINDS = [
  { kind: 'save', Name: 'Save', prefix: '/api/saves' },
  { kind: 'state', Name: 'State', prefix: '/api/states' },
  { kind: 'screenshot', Name: 'Screenshot', prefix: '/api/screenshots' }
] as const

/** Content of assets: the caller's own, and public ones of others. */
const routes: Routes = async (app) => {
  for (const { kind, Name, prefix } of KINDS) {
    for (const method of ['HEAD', 'GET'] as const) {
      app.route({
        method,
        url: `${prefix}/:id/content`,
        exposeHeadRoute: false,
        schema: {
          operationId: `${method.toLowerCase()}${Name}Content`,
          tags: [`${kind}s`],
          summary: `Download the file of a ${kind} of your own or of a public one`,
          params: IdParams,
          querystring: ContentQuery,
          response: { 200: CONTENT[kind], 206: CONTENT[kind], 404: ErrorSchema, 409: ErrorSchema }
        },
        config: { scopes: ['assets.read'] },
        handler: async (request, reply) => {
          const { query, params: { id } } = request
          const content = method === 'GET'
            ? await app.assets.download(contextOf(request), { kind, id }, query)
            : (await app.assets.open(contextOf(request), { kind, id })).content
          return await app.files.sendObject(request, reply, content)
        }
      })
      if (kind === 'screenshot') continue
      app.route({
        method,
        url: `${prefix}/deleted/:id/content`,
        exposeHeadRoute: false,
        schema: {
          operationId: `${method.toLowerCase()}Deleted${Name}Content`,
          tags: [`${kind}s`],
          summary: `Download the file of a ${kind} that you deleted and can restore`,
          params: IdParams,
          response: { 200: CONTENT[kind], 206: CONTENT[kind], 404: ErrorSchema }
        },
        config: { scopes: ['assets.read'] },
        handler: async (request, reply) => await app.files.sendObject(request, reply,
          await app.assets.openDeleted(contextOf(request), { kind, id: request.params.id }))
      })
    }
  }
}

export default routes
