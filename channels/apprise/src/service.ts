import type { RequestOptions } from '@svc/plugin-sdk'
import type { Fields as Answer } from '@svc/plugin-sdk/readers'
import { expandTemplate, type Field, type Fields, type Form } from './form.ts'
import type { Message, Rendering } from './render.ts'
import type { Values } from './values.ts'

/** One request, with the options of `ctx.http` that it needs. */
export interface ServiceRequest extends Pick<RequestOptions, 'query' | 'json' | 'form' | 'body'> {
  /** Default POST. */
  readonly method?: RequestOptions['method']
  readonly url: string
  readonly headers?: Record<string, string>
}

export interface Reply {
  readonly status: number
  readonly text: string
  /** The object in the body, or an empty object. */
  readonly json: Answer
}

/**
 * Sends one request during a delivery.
 *
 * @throws when the response is not 2xx
 */
export type SendRequest = (request: ServiceRequest) => Promise<Reply>

export interface Service extends Form {
  readonly rendering: Rendering
  /** Reads a URL that the service itself offers to copy into fields; null for any other URL. */
  readNative? (url: URL): Readonly<Record<string, unknown>> | null
  /** The query parameters that `readNative` reads; all others are options. */
  readonly nativeQuery?: readonly string[]
  /** Sends preparatory requests and returns the fields that they yield. */
  prepare? (values: Values, ask: SendRequest): Promise<Fields>
  /** Releases resources of `prepare`, such as a session. */
  finish? (values: Values, ask: SendRequest): Promise<void>
  /** Builds the requests: one per target if the service accepts only one. */
  toRequests (values: Values, message: Message): readonly ServiceRequest[]
  /** True if a 2xx response confirms the message. */
  isAccepted? (reply: Reply): boolean
}

export interface ServiceDefinition
  extends Pick<Service, 'readNative' | 'nativeQuery' | 'rewrite' | 'prepare' | 'finish' | 'toRequests' | 'isAccepted'> {
  name: string
  setupUrl: string
  /** Schemas for https. The first one is the service's id unless a schema for http exists. */
  secure: readonly string[]
  plain?: readonly string[]
  /** The form of the URL after `schema://`; parts in brackets are optional. */
  templates: readonly string[]
  fields: Readonly<Record<string, Field>>
  aliases?: Readonly<Record<string, string>>
  defaultOptions?: readonly string[]
  urlFields?: readonly string[]
  rendering?: Partial<Rendering>
}

const DEFAULT_LIMITS = { title: 250, text: 32_000 }

/** Declares a service and fills in common defaults. */
export function defineService ({ templates, rendering, ...given }: ServiceDefinition): Service {
  const { plain = [], secure, aliases = {}, defaultOptions = [], urlFields = [], fields } = given
  const usual = { to: 'targets', pass: 'password', user: 'botname' }
  const inherited = Object.fromEntries(Object.entries(usual)
    .filter(([name, key]) => key in fields && !(name in fields)))
  return {
    ...given,
    id: plain[0] ?? secure[0] ?? '',
    plain,
    aliases: { ...inherited, ...aliases },
    defaultOptions,
    urlFields,
    templates: templates.flatMap(expandTemplate),
    rendering: { limits: DEFAULT_LIMITS, hasLinkField: false, hasMentions: false, ...rendering }
  }
}

// A host name or number, or IPv6 in brackets.
const HOST = /^(?:\[[0-9a-f:.]+\]|[\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}])?)$/iu
/** A text that a header can hold unchanged. */
export const HEADER_TEXT = /^[\x21-\x7e]+$/

/** A pair `name=value`, except for headers that belong to the connection. */
export const HEADER_PAIR = /^(?!(?:host|connection|content-length|expect|keep-alive|transfer-encoding|upgrade)=)[\w-]+=[\x20-\x7e]*$/i

/** Fields that many services share. */
export const HOST_FIELDS = {
  host: { label: 'Hostname', type: 'string', required: true, pattern: HOST },
  port: { label: 'Port', type: 'int', min: 1, max: 65_535 }
} as const satisfies Record<string, Field>

export const LOGIN_FIELDS = {
  user: { label: 'Username', type: 'string', pattern: /^[^:]+$/ },
  password: { label: 'Password', type: 'string', private: true }
} as const satisfies Record<string, Field>

/** An optional `{user}` and `{password}` before the host. */
export const LOGIN = '[{user}[:{password}]@]'
export const HOST_PORT = '{host}[:{port}]'

/** Segments of a path; `.` and `..` are not allowed. */
export const PATH: Field = {
  label: 'Path', type: 'string', pattern: /^(?!\/)(?!(?:.*\/)?\.{1,2}(?:\/|$))[^?#\\]*[^?#\\/]$/
}

/** Reads schema, host and port of a person's own server from a link to it. */
export function readOrigin ({ plain, secure }: { plain: string, secure: string }, url: URL) {
  const port = url.port === '' ? {} : { port: Number(url.port) }
  return { schema: url.protocol === 'https:' ? secure : plain, host: url.hostname, ...port }
}
