import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { type TSchema, Type } from '@sinclair/typebox'
import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { type RouteAccess, SAFE_METHODS } from '../../access/auth.ts'
import type { Config } from '../../config/config.ts'
import { basePath } from '../../config/base-url.ts'
import { ErrorSchema, ValidationErrorSchema } from '../../typebox.ts'
import { nameSchemas } from './components.ts'
import createDocsPages, { LOGO_PATH } from './docs-pages.ts'
import { describeTypes, isId, markKeywords, withoutDefaults } from './keywords.ts'
import { describeMedia, copyForm } from './media.ts'
import { type Paths, describeNulls, describeResponses } from './responses.ts'

export interface OperationSchema {
  operationId?: string
  tags?: readonly string[]
  hide?: boolean
  response?: Record<string, unknown>
  form?: TSchema
  consumes?: readonly string[]
  body?: unknown
  params?: unknown
  querystring?: unknown
  security?: readonly Record<string, readonly string[]>[]
  description?: string
}

const SECURITY = ['session', 'basic', 'bearer'] as const
const DOWNLOAD_SECURITY = [...SECURITY, 'urlToken'] as const

/** Checks that each operation has a unique name and a tag, because client generators need them. */
function createOperationCheck () {
  const seen = new Map<string, string>()
  return (route: RouteOptions) => {
    const schema = route.schema as OperationSchema | undefined
    if (schema?.hide === true || !route.url.startsWith('/api/')) return
    const methods = [route.method].flat().filter((method) => method !== 'HEAD')
    if (methods.length === 0) return
    const operation = `${methods.join(',')} ${route.url}`
    if (schema?.operationId === undefined || (schema.tags ?? []).length === 0 || schema.response === undefined) {
      throw new Error(`Route ${operation} needs schema.operationId, schema.tags and schema.response`)
    }
    const twin = seen.get(schema.operationId)
    if (twin !== undefined && twin !== operation) {
      throw new Error(`operationId '${schema.operationId}' names both ${twin} and ${operation}`)
    }
    seen.set(schema.operationId, operation)
  }
}

const refTo = (schema: { $id?: string }) => ({ $ref: `${schema.$id}#` })

const isFile = (response: unknown) => (response as { format?: unknown } | undefined)?.format === 'binary'

/** Returns the errors that follow from an operation's inputs, its changes, and its access. */
function listCommonErrors (schema: OperationSchema, access: RouteAccess, method: string): number[] {
  const { body, params, querystring, consumes } = schema
  const changes = !SAFE_METHODS.has(method)
  const isPublic = access.public === true
  const needsCsrf = changes && access.csrfExempt !== true
  const takesBody = changes || body !== undefined || consumes !== undefined
  const takesInput = takesBody || params !== undefined || querystring !== undefined
  const { properties = {} } = (querystring ?? {}) as { properties?: object }
  const namesThings = params !== undefined || body !== undefined || Object.keys(properties).some(isId)
  return [
    // The entity of a request may be gone when the change is written.
    ...(changes ? [400, 409] : []),
    ...(isPublic ? [] : [401]),
    ...(isPublic && !needsCsrf ? [] : [403]),
    ...(namesThings ? [404] : []),
    ...(takesBody ? [413, 415] : []),
    ...(takesInput ? [422] : []),
    // The limit for guests is checked before anything else.
    429,
    503
  ]
}

/**
 * Returns the responses of an operation by status: its own, and those that follow from its inputs, outputs and changes.
 */
export function listResponses (schema: OperationSchema, access: RouteAccess, method: string): Record<string, unknown> {
  const { response = {} } = schema
  const error = refTo(ErrorSchema)
  const common = listCommonErrors(schema, access, method)
    .map((status) => [status, status === 422 ? refTo(ValidationErrorSchema) : error] as const)
  // An operation without a 2xx response redirects a browser; any other response is an error.
  const isRedirect = !Object.keys(response).some((status) => status.startsWith('2'))
  return {
    ...Object.fromEntries(common),
    ...(Object.values(response).some(isFile) ? { 304: Type.Null(), 412: error, 416: error } : {}),
    ...(isRedirect ? { default: error } : {}),
    ...response
  }
}

/** Returns the sets of scopes of which a caller needs one. */
const alternativesOf = ({ scopes = [], orScopes }: RouteAccess): string[][] =>
  [[...scopes], ...(orScopes === undefined ? [] : [[...orScopes]])]

const securityOf = ({ download }: RouteAccess) => download === true ? DOWNLOAD_SECURITY : SECURITY

function describeAccess (access: RouteAccess): string {
  const lists = alternativesOf(access).map((scopes) => scopes.join(', ') || 'none')
  const admin = access.admin === true ? 'Administrators only; a token needs `users.write` too. ' : ''
  const grant = access.grant === undefined ? '' : `Grant: ${access.grant.join(' ')}. `
  const signedIn = (access.signedIn ?? false) === false ? '' : 'Not for client tokens. '
  return `${admin}${grant}${signedIn}Scopes: ${lists.join(', or ')}.`
}

/** The credentials of callers, as the document describes them. */
const SECURITY_SCHEMES = {
  session: { type: 'apiKey', in: 'cookie', name: 'svc_session', description: 'The login session of a browser' },
  basic: { type: 'http', scheme: 'basic', description: 'Username and password, with all rights of the account' },
  bearer: { type: 'http', scheme: 'bearer', description: 'A client API token, `svc_…`, or a token from `createToken`; each has its own scopes' },
  urlToken: {
    type: 'apiKey', in: 'query', name: 'token', description: 'A client API token, for programs that cannot send a header'
  }
} as const

/** A group of operations in pages that show the document. */
export interface Tag { readonly name: string, readonly description: string }

export interface OpenapiOptions {
  config: Config
  version: string
  tags: readonly Tag[]
  /** Markdown: the first text of the document. */
  introduction: string
}

type Transforms = Required<FastifyDynamicSwaggerOptions>

/** Adds the access and the responses of a route to its schema. */
const transformRoute: Transforms['transform'] = ({ schema, url, route }) => {
  const operation = schema as OperationSchema
  if (operation.hide === true) return { schema, url }
  const access = route.config ?? {}
  const isPublic = access.public === true
  const note = isPublic ? 'Anyone may call this.' : describeAccess(access)
  return {
    url,
    schema: {
      ...operation,
      ...withoutDefaults(operation),
      ...copyForm(operation),
      description: [operation.description, note].filter(Boolean).join('\n\n'),
      security: isPublic
        ? []
        : alternativesOf(access).flatMap((scopes) => securityOf(access).map((name) => ({ [name]: scopes }))),
      response: describeNulls(listResponses(operation, access, [route.method].flat()[0] ?? 'GET'))
    }
  }
}

/**
 * Returns the schemas of every plugin's settings, because clients can build forms from them. ROM schemas contain its
 * metadata.
 */
function listPluginSchemas ({ registry }: FastifyInstance): Record<string, unknown> {
  const named: [string, unknown][] = registry.definitions.flatMap(({ kind, definition }): [string, unknown][] => {
    const name = `${kind}_${definition.key}`
    return [
      [`${name}_config`, definition.config],
      [`${name}_settings`, 'settings' in definition ? definition.settings : undefined]
    ]
  })
  return Object.fromEntries(named.filter(([, schema]) => schema !== undefined)
    .map(([name, schema]) => [name, markKeywords(schema)]))
}

/** Names the schemas of the document, and adds those of plugins and the events of sockets. */
function transformDocument (app: FastifyInstance, document: Parameters<Transforms['transformObject']>[0]): never {
  const api = 'openapiObject' in document ? document.openapiObject : {}
  const described = describeResponses((api.paths ?? {}) as Paths)
  const { paths, schemas } = nameSchemas(describeTypes(describeMedia(described)) as Record<string, unknown>,
    describeTypes({ ...api.components?.schemas, ...listPluginSchemas(app) }) as Record<string, unknown>)
  return {
    ...api,
    paths,
    'x-socket-events': app.sockets.listEvents().filter(({ from }) => from === 'client').map(({ name, scopes }) => ({ name, scopes })),
    components: { ...api.components, schemas }
  } as never
}

export default fp<OpenapiOptions>(async (app, { config, version, tags, introduction }) => {
  app.addSchema(ErrorSchema)
  app.addSchema(ValidationErrorSchema)
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => { routes.push(route) })
  app.addHook('onReady', async () => { routes.forEach(createOperationCheck()) })

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'svc',
        version,
        summary: 'A self-hosted game library server.',
        description: introduction,
        license: { name: 'MIT', identifier: 'MIT' },
        // Redoc's extension for a logo.
        ...{ 'x-logo': { url: `${basePath(config)}${LOGO_PATH}`, altText: 'svc' } }
      },
      servers: [{ url: basePath(config) || '/' }],
      tags: [...tags],
      components: {
        securitySchemes: SECURITY_SCHEMES
      }
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => typeof json.$id === 'string' ? json.$id : `def-${i}` },
    transform: transformRoute,
    transformObject: (document) => transformDocument(app, document)
  })

  await app.register(createDocsPages(config))
}, { name: 'openapi', fastify: '5.x', dependencies: ['loader'] })
