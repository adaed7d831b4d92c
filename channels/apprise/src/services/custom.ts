import type { Field } from '../form.ts'
import { HEADER_PAIR, HOST_FIELDS, HOST_PORT, LOGIN, LOGIN_FIELDS, type ServiceRequest } from '../service.ts'
import { toPairs, type Values } from '../values.ts'

/** The shared URL form of JSON, XML and form posts to a custom address. */
export const CUSTOM_TEMPLATES = [`${LOGIN}${HOST_PORT}[/{fullpath}]`]

const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE', 'HEAD'] as const
/** A path that may end with a slash, without which many receivers redirect. */
const PATH: Field = { label: 'Path', type: 'string', pattern: /^(?!\/)(?!(?:.*\/)?\.{1,2}(?:\/|$))[^?#\\]+$/ }
// Private, because all of these may carry keys of the receiver.
const PAIRS = { type: 'list', private: true } as const

export const CUSTOM_FIELDS = {
  ...HOST_FIELDS,
  ...LOGIN_FIELDS,
  fullpath: PATH,
  method: { label: 'Method', type: 'choice', values: METHODS, default: 'POST' },
  headers: { label: 'HTTP headers', prefix: '+', pattern: HEADER_PAIR, ...PAIRS },
  payload: { label: 'More fields, or other names of fields', prefix: ':', pattern: /^[\w-]+=/, ...PAIRS },
  params: { label: 'Query parameters', prefix: '-', pattern: /^[^=]+=/, ...PAIRS }
} as const satisfies Record<string, Field>

/** Builds URL and headers of the request. The URL stays as entered, including a slash at its end. */
export function toCustomRequest (values: Values): Omit<ServiceRequest, 'headers'> & { headers: Record<string, string> } {
  const { text, list, origin, login } = values
  const path = text('fullpath').split('/').map((part) => encodeURIComponent(part)).join('/')
  return {
    method: METHODS.find((method) => method === text('method')) ?? 'POST',
    url: `${origin}/${path}`,
    query: toPairs(list('params')),
    headers: { ...login, ...toPairs(list('headers')) }
  }
}

/** Renames, removes or adds fields of the message as the settings say. */
export function toPayload (base: Readonly<Record<string, string>>, { list }: Values): Record<string, string> {
  const pairs = toPairs(list('payload'))
  const renamed = Object.entries(base).map(([key, value]): [string, string] => [pairs[key] ?? key, value])
  const added = Object.entries(pairs).filter(([key]) => !Object.hasOwn(base, key))
  return Object.fromEntries([...renamed.filter(([key]) => key !== ''), ...added])
}
