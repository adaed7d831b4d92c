import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { RouteAccess } from '../access/auth.ts'
import { type Config, basePath } from '../config/config.ts'
import { ErrorSchema, ValidationErrorSchema } from '../typebox.ts'
import { nameSchemas } from './components.ts'
import { type Operation, describeResponses } from './responses.ts'

interface OperationSchema {
  operationId?: string
  tags?: readonly string[]
  hide?: boolean
  response?: Record<string, unknown>
  body?: unknown
  params?: unknown
  querystring?: unknown
  security?: readonly Record<string, readonly string[]>[]
  description?: string
}

const REDOC_DIR = join(dirname(createRequire(import.meta.url).resolve('redoc/package.json')), 'bundles')
const DESCRIPTION = 'A self-hosted game library server.\n\nPaths in answers, such as those of covers, stand below the address of ' +
  'the server and do not have its path in front: where it is at `https://home.example.org/games`, `/assets/…` is at ' +
  '`https://home.example.org/games/assets/…`. Answers that call a field `url` or `uri` give whole addresses.'
const SECURITY = ['session', 'basic', 'bearer'] as const
const DOWNLOAD_SECURITY = [...SECURITY, 'urlToken'] as const
/** Pages that draw the document need inline styles, and Redoc a worker made from a blob. */
const DOCS_CSP = "default-src 'self'; script-src 'self' blob:; worker-src blob:; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'"

/** Each operation has a unique name and a tag: generated clients are built from them. */
function createOperationCheck () {
  const seen = new Map<string, string>()
  return (route: RouteOptions) => {
    const schema = route.schema as OperationSchema | undefined
    if (schema?.hide === true || !route.url.startsWith('/api/')) return
    const methods = [route.method].flat().filter((method) => method !== 'HEAD')
    if (methods.length === 0) return
    const place = `${methods.join(',')} ${route.url}`
    if (schema?.operationId === undefined || (schema.tags ?? []).length === 0 || schema.response === undefined) {
      throw new Error(`Route ${place} needs schema.operationId, schema.tags and schema.response`)
    }
    const twin = seen.get(schema.operationId)
    if (twin !== undefined && twin !== place) {
      throw new Error(`operationId '${schema.operationId}' names both ${twin} and ${place}`)
    }
    seen.set(schema.operationId, place)
  }
}

const refTo = (schema: { $id?: string }) => ({ $ref: `${schema.$id}#` })

/** The answers every guarded operation may give. */
function commonResponses (schema: OperationSchema, isPublic: boolean): Record<string, unknown> {
  const takesInput = schema.body !== undefined || schema.params !== undefined || schema.querystring !== undefined
  return {
    ...(isPublic ? {} : { 401: refTo(ErrorSchema), 403: refTo(ErrorSchema) }),
    ...(takesInput ? { 422: refTo(ValidationErrorSchema) } : {})
  }
}

/** The sets of scopes of which a caller needs one. */
const alternativesOf = ({ scopes = [], orScopes }: RouteAccess): string[][] =>
  [[...scopes], ...(orScopes === undefined ? [] : [[...orScopes]])]

const securityOf = ({ download }: RouteAccess) => download === true ? DOWNLOAD_SECURITY : SECURITY

function describeAccess (access: RouteAccess): string {
  const lists = alternativesOf(access).map((scopes) => scopes.join(', ') || 'none')
  const admin = access.admin === true ? 'Administrators only. ' : ''
  const grant = access.grant === undefined ? '' : `Grant: ${access.grant.join(' ')}. `
  const signedIn = access.signedIn === true ? 'Not for client tokens. ' : ''
  return `${admin}${grant}${signedIn}Scopes: ${lists.join(', or ')}.`
}

/** A group of operations, as pages that draw the document show it. */
export interface Tag { readonly name: string, readonly description: string }

export interface OpenapiOptions { config: Config, version: string, tags: readonly Tag[] }

export default fp<OpenapiOptions>(async (app, { config, version, tags }) => {
  app.addSchema(ErrorSchema)
  app.addSchema(ValidationErrorSchema)
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => { routes.push(route) })
  app.addHook('onReady', async () => { routes.forEach(createOperationCheck()) })

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'svc', version, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' }
      },
      servers: [{ url: basePath(config) || '/' }],
      tags: [...tags],
      components: {
        securitySchemes: {
          session: { type: 'apiKey', in: 'cookie', name: 'svc_session' },
          basic: { type: 'http', scheme: 'basic' },
          bearer: { type: 'http', scheme: 'bearer', description: 'A client API token, `svc_…`' },
          urlToken: {
            type: 'apiKey', in: 'query', name: 'token', description: 'A client API token, for programs that can send no header'
          }
        }
      }
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => typeof json.$id === 'string' ? json.$id : `def-${i}` },
    transform: ({ schema, url, route }) => {
      const operation = schema as OperationSchema
      if (operation.hide === true) return { schema, url }
      const access = route.config ?? {}
      const isPublic = access.public === true
      const note = isPublic ? 'Anyone may call this.' : describeAccess(access)
      return {
        url,
        schema: {
          ...operation,
          description: [operation.description, note].filter(Boolean).join('\n\n'),
          security: isPublic
            ? []
            : alternativesOf(access).flatMap((scopes) => securityOf(access).map((name) => ({ [name]: scopes }))),
          response: { ...commonResponses(operation, isPublic), ...operation.response }
        }
      }
    },
    transformObject: (document) => {
      const api = 'openapiObject' in document ? document.openapiObject : {}
      const described = describeResponses((api.paths ?? {}) as Record<string, Record<string, Operation>>)
      const { paths, schemas } = nameSchemas(described, api.components?.schemas ?? {})
      return {
        ...api,
        paths,
        'x-socket-events': app.sockets.listEvents(),
        components: { ...api.components, schemas: { ...schemas, ...pluginSchemas() } }
      } as never
    }
  })

  /** Every plugin's own schemas, so that forms and clients can be made from the document. */
  function pluginSchemas (): Record<string, unknown> {
    const named: [string, unknown][] = app.registry.definitions.flatMap(({ kind, definition }): [string, unknown][] => {
      const name = `${kind}_${definition.key}`
      return [
        [`${name}_config`, definition.config],
        [`${name}_metadata`, 'metadata' in definition ? definition.metadata : undefined],
        [`${name}_settings`, 'settings' in definition ? definition.settings : undefined]
      ]
    })
    return Object.fromEntries(named.filter(([, schema]) => schema !== undefined))
  }

  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true }
      route.schema = { ...route.schema, hide: true }
    })
    docs.addHook('onSend', async (_request, reply) => { reply.header('content-security-policy', DOCS_CSP) })
    await docs.register(swaggerUi, { routePrefix: '/api/docs', indexPrefix: basePath(config) })

    let text: string | null = null
    const sendDocument = async () => (text ??= JSON.stringify(app.swagger()))
    for (const path of ['/openapi.json', '/api/openapi.json']) {
      docs.get(path, async (_request, reply) => reply.type('application/json').send(await sendDocument()))
    }
    docs.get('/api/redoc', async (_request, reply) => reply.type('text/html').send(redocPage(basePath(config))))
    docs.get('/api/redoc/redoc.standalone.js', async (_request, reply) =>
      reply.type('text/javascript').send(await readFile(join(REDOC_DIR, 'redoc.standalone.js'))))
    docs.get('/api/redoc/start.js', async (_request, reply) =>
      reply.type('text/javascript').send(`Redoc.init('${basePath(config)}/openapi.json', {}, document.getElementById('doc'))`))
  })
}, { name: 'openapi', fastify: '5.x', dependencies: ['loader'] })

const redocPage = (base: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>svc API</title></head>
<body><div id="doc"></div><script src="${base}/api/redoc/redoc.standalone.js"></script>
<script src="${base}/api/redoc/start.js"></script></body></html>
`
