import fp from 'fastify-plugin'
import type { Config } from '../config/config.ts'
import { basePath } from '../config/base-url.ts'
import { SOCKET_PATH } from './request.ts'
import type { ListedEvent } from './sockets.ts'
import { nameSchemas } from '../web/openapi/components.ts'
import { describeBody, describeTypes } from '../web/openapi/keywords.ts'

type Json = Readonly<Record<string, unknown>>

export interface AsyncapiOptions { config: Config, version: string }

/** Returns a key for the document, which allows only letters and digits. */
const toKey = (name: string) => name.replace(/[^A-Za-z0-9]+(\w)/g, (_match, first: string) => first.toUpperCase())
const channelOf = (namespace: string) => toKey(namespace).toLowerCase().replace('/', '') || 'main'

/** Converts a reference by `$id` (`Name#`), which shared schemas have, to one of the document. */
const toReference = (ref: string) => /^\w+#$/.test(ref) ? `#/components/schemas/${ref.slice(0, -1)}` : ref

/** Returns plain JSON, with references to shared schemas in the form of the document. */
const toDocument = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (key, inner: unknown) =>
  key === '$ref' && typeof inner === 'string' ? toReference(inner) : inner))

const REFERENCE = /"#\/components\/schemas\/([^"]+)"/g

/** Returns the schemas that `value` needs, directly or indirectly. */
function pickSchemas (value: unknown, schemas: Json): Json {
  const needed = new Set<string>()
  function follow (part: unknown): void {
    for (const [, name = ''] of JSON.stringify(part).matchAll(REFERENCE)) {
      if (needed.has(name)) continue
      needed.add(name)
      follow(schemas[name])
    }
  }
  follow(value)
  return Object.fromEntries([...needed].sort().map((name) => [name, schemas[name]]))
}

function describeMessage ({ name, summary, schema, scopes, from }: ListedEvent): Json {
  const note = scopes.length === 0 ? {} : { description: `Scopes: ${scopes.join(', ')}.` }
  return { name, title: name, summary, ...note, payload: describeTypes(from === 'client' ? describeBody(schema) : schema) }
}

const SCHEMES = {
  session: { type: 'httpApiKey', in: 'cookie', name: 'svc_session', description: 'The login session of a browser' },
  bearer: { type: 'http', scheme: 'bearer', description: 'A client API token' }
}
const listSchemes = (namespace: string) => (namespace === '/' ? ['session', 'bearer'] : ['bearer'])
  .map((scheme) => ({ $ref: `#/components/securitySchemes/${scheme}` }))

const ADDRESSES: Readonly<Record<string, string>> = {
  '/': 'Events for browsers and apps. Callers with a cookie or a token get the events of their account; guests get only totals.',
  '/devices': 'Events for a device that connects with its own token, as `auth.token` of the handshake or as `Bearer`.'
}

/** Describes each event as a message of its channel and as an operation of the server, which sends or receives it. */
function describeEvents (events: readonly ListedEvent[]) {
  const messages: Record<string, Json> = {}
  const channels: Record<string, { messages: Record<string, Json> } & Json> = {}
  const operations: Record<string, Json> = {}
  for (const event of events) {
    const [key, channel] = [toKey(event.name), channelOf(event.namespace)]
    messages[key] = describeMessage(event)
    channels[channel] ??= { address: event.namespace, description: ADDRESSES[event.namespace] ?? '', messages: {} }
    channels[channel].messages[key] = { $ref: `#/components/messages/${key}` }
    operations[key] = {
      action: event.from === 'server' ? 'send' : 'receive',
      channel: { $ref: `#/channels/${channel}` },
      summary: event.summary,
      security: listSchemes(event.namespace),
      messages: [{ $ref: `#/channels/${channel}/messages/${key}` }]
    }
  }
  return { messages, channels, operations }
}

/** Serves the document of the socket endpoints. It shares schemas with the OpenAPI document. */
export default fp<AsyncapiOptions>(async (app, { config, version }) => {
  function describe (): Json {
    const { messages: given, channels, operations } = describeEvents(app.sockets.listEvents())
    const openapi = app.swagger() as { components?: { schemas?: Json } }
    const { paths: messages, schemas } = nameSchemas(toDocument(given) as Json, openapi.components?.schemas ?? {})
    const base = new URL(config.server.base_url)
    return {
      asyncapi: '3.0.0',
      info: {
        title: 'svc events',
        version,
        description: 'Events over socket.io: each message is an event of that name with one argument, its payload.',
        license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' }
      },
      defaultContentType: 'application/json',
      servers: {
        svc: {
          host: base.host,
          pathname: `${basePath(config)}${SOCKET_PATH}`,
          protocol: base.protocol === 'https:' ? 'wss' : 'ws',
          description: 'socket.io, protocol version 5'
        }
      },
      channels,
      operations,
      components: { messages, schemas: pickSchemas(messages, schemas), securitySchemes: SCHEMES }
    }
  }

  let text: string | null = null
  for (const path of ['/asyncapi.json', '/api/asyncapi.json']) {
    app.get(path, { schema: { hide: true }, config: { public: true } }, async (_request, reply) =>
      reply.type('application/json').send(text ??= JSON.stringify(describe())))
  }
}, { name: 'asyncapi', fastify: '5.x', dependencies: ['openapi', 'sockets'] })
