import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, IdParams, type Routes } from '../../../core/typebox.ts'
import { type Forms, formOf } from '../upload-form.ts'
import {
  CONTENT, ResolveBody, SaveSchema, SaveVersionForm, StateSchema, StateVersionForm, VersionParams, VersionSchema,
  VersionUploadQuery
} from '../schemas.ts'

const reads = { scopes: ['assets.read'] as const }
const writes = { scopes: ['assets.write'] as const }
const KINDS = [
  { kind: 'save', Name: 'Save', prefix: '/api/saves', part: 'saveFile', sent: SaveVersionForm, schema: SaveSchema },
  { kind: 'state', Name: 'State', prefix: '/api/states', part: 'stateFile', sent: StateVersionForm, schema: StateSchema }
] as const

/** Former contents of saves and states, and deleted saves and states. */
const createVersionRoutes = ({ read }: Forms): Routes => async (app) => {
  const { assets } = app

  for (const { kind, Name, prefix, part, sent, schema } of KINDS) {
    const tags = [`${kind}s`]
    const view = kind === 'save'
      ? (...[context, id]: Parameters<typeof assets.viewState>) =>
          assets.viewSave(context, id, { reference: undefined, scope: 'devices.read' })
      : assets.viewState

    app.get(`${prefix}/:id/versions`, {
      schema: {
        operationId: `list${Name}Versions`, tags, summary: `List former contents of a ${kind}, the last one first`,
        params: IdParams, response: { 200: Type.Array(VersionSchema) }
      },
      config: reads
    }, async (request) => await assets.listVersions(contextOf(request), { kind, id: request.params.id }))

    app.post(`${prefix}/:id/versions`, {
      schema: {
        operationId: `add${Name}Version`,
        tags,
        summary: `Add a former content to a ${kind}, whose current content stays`,
        description: `A form with the part \`${part}\`.`,
        consumes: ['multipart/form-data'],
        form: sent,
        params: IdParams,
        querystring: VersionUploadQuery,
        response: { 200: VersionSchema, 400: ErrorSchema, 404: ErrorSchema, 413: ErrorSchema, 507: ErrorSchema }
      },
      preValidation: read,
      config: writes
    }, async (request) => {
      const { query, params: { id } } = request
      const form = formOf(request)
      return await assets.addVersion(contextOf(request), { kind, id }, query, form.main(part))
    })

    for (const method of ['HEAD', 'GET'] as const) {
      app.route({
        method,
        url: `${prefix}/:id/versions/:version_id/content`,
        exposeHeadRoute: false,
        schema: {
          operationId: `${method.toLowerCase()}${Name}VersionContent`, tags, summary: `Download a former content of a ${kind}`,
          params: VersionParams, response: { 200: CONTENT[kind], 206: CONTENT[kind] }
        },
        config: reads,
        handler: async (request, reply) => {
          const { id, version_id: version } = request.params
          const content = await assets.openVersion(contextOf(request), { kind, id }, version)
          return await app.files.sendObject(request, reply, content)
        }
      })
    }

    app.post(`${prefix}/:id/versions/:version_id/restore`, {
      schema: {
        operationId: `restore${Name}Version`, tags, summary: `Make a former content of a ${kind} the current one`,
        params: VersionParams, response: { 200: schema, 404: ErrorSchema }
      },
      config: writes
    }, async (request) => {
      const { id, version_id: version } = request.params
      const context = contextOf(request)
      await assets.changes.restoreVersion(context, { kind, id }, version)
      return await view(context, id)
    })

    app.post(`${prefix}/:id/resolve`, {
      schema: {
        operationId: `resolve${Name}Conflict`, tags, summary: `Resolve the conflict of a ${kind} that is a conflict copy; returns the ${kind} that remains`,
        params: IdParams, body: ResolveBody, response: { 200: schema, 404: ErrorSchema, 409: ErrorSchema }
      },
      config: { ...writes, audit: `${kind}.deleted` as const }
    }, async (request) => {
      const context = contextOf(request)
      const remaining = await assets.resolveConflict(context, { kind, id: request.params.id }, request.body.keep)
      return await view(context, remaining)
    })

    app.post(`${prefix}/:id/restore`, {
      schema: {
        operationId: `restore${Name}`, tags, summary: `Restore a deleted ${kind}`,
        params: IdParams, response: { 200: schema, 404: ErrorSchema, 409: ErrorSchema }
      },
      config: writes
    }, async (request) => {
      await assets.changes.restore(contextOf(request), { kind, id: request.params.id })
      return await view(contextOf(request), request.params.id)
    })
  }
}

export default createVersionRoutes
