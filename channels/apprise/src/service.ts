import type { Fields as Answer, RequestOptions } from '@svc/plugin-sdk'
import { expandTemplate, type Field, type Fields, type Form } from './form.ts'
import type { Message, Rendering } from './render.ts'
import type { Values } from './values.ts'

/** One request, and what of `ctx.http` it needs. */
export interface ServiceRequest extends Pick<RequestOptions, 'query' | 'json' | 'form' | 'body'> {
  /** Default POST. */
  readonly method?: RequestOptions['method']
  readonly url: string
  readonly headers?: Record<string, string>
}

export interface Reply {
  readonly status: number
  readonly text: string
  /** The object in the body, or an empty one. */
  readonly json: Answer
}

/** Sends one request on the way to the message. @throws when it is not answered with 2xx */
export type Ask = (request: ServiceRequest) => Promise<Reply>

export interface Service extends Form {
  readonly rendering: Rendering
  /** What the service itself gives people to copy, as fields; null when it is another address. */
  readNative? (url: URL): Readonly<Record<string, unknown>> | null
  /** What `readNative` reads of the query; the rest are options. */
  readonly nativeQuery?: readonly string[]
  /** For services that must be asked first: the fields with what came of it. */
  prepare? (values: Values, ask: Ask): Promise<Fields>
  /** Gives back what `prepare` was given, such as a session. */
  finish? (values: Values, ask: Ask): Promise<void>
  /** One request per target where the service takes only one. */
  toRequests (values: Values, message: Message): readonly ServiceRequest[]
  /** Whether an answer of 2xx means that the message was taken. */
  isTaken? (reply: Reply): boolean
}

export interface ServiceDefinition
  extends Pick<Service, 'readNative' | 'nativeQuery' | 'rewrite' | 'prepare' | 'finish' | 'toRequests' | 'isTaken'> {
  name: string
  setupUrl: string
  /** Schemas that mean https, the first being the service's id unless there is one for http. */
  secure: readonly string[]
  plain?: readonly string[]
  /** What follows `schema://`; what stands in brackets may be missing. */
  templates: readonly string[]
  fields: Readonly<Record<string, Field>>
  aliases?: Readonly<Record<string, string>>
  settled?: readonly string[]
  urlFields?: readonly string[]
  rendering?: Partial<Rendering>
}

const DEFAULT_LIMITS = { title: 250, text: 32_000 }

/** Declares a service; what most have in common is filled in. */
export function defineService ({ templates, rendering, ...given }: ServiceDefinition): Service {
  const { plain = [], secure, aliases = {}, settled = [], urlFields = [], fields } = given
  const usual = { to: 'targets', pass: 'password', user: 'botname' }
  const inherited = Object.fromEntries(Object.entries(usual)
    .filter(([name, key]) => key in fields && !(name in fields)))
  return {
    ...given,
    id: plain[0] ?? secure[0] ?? '',
    plain,
    aliases: { ...inherited, ...aliases },
    settled,
    urlFields,
    templates: templates.flatMap(expandTemplate),
    rendering: { limits: DEFAULT_LIMITS, takesLink: false, mentions: false, ...rendering }
  }
}

// Names and numbers of hosts, and IPv6 in brackets.
const HOST = /^(?:\[[0-9a-f:.]+\]|[\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}])?)$/iu
/** Goes into a header as it is. */
export const HEADER_TEXT = /^[\x21-\x7e]+$/

/** `name=value`, but for headers that belong to the connection. */
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

/** `{user}` and `{password}` before the host, if any. */
export const LOGIN = '[{user}[:{password}]@]'
export const HOST_PORT = '{host}[:{port}]'

/** Segments of a path, none of them `.` or `..`. */
export const PATH: Field = {
  label: 'Path', type: 'string', pattern: /^(?!\/)(?!(?:.*\/)?\.{1,2}(?:\/|$))[^?#\\]*[^?#\\/]$/
}

/** The parts of the address of somebody's own server, out of a link to it. */
export function readOrigin ({ plain, secure }: { plain: string, secure: string }, url: URL) {
  const port = url.port === '' ? {} : { port: Number(url.port) }
  return { schema: url.protocol === 'https:' ? secure : plain, host: url.hostname, ...port }
}
