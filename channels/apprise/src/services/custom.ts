import type { Field } from '../form.ts'
import { HEADER_PAIR, HOST_FIELDS, HOST_PORT, LOGIN, LOGIN_FIELDS, type ServiceRequest } from '../service.ts'
import { toPairs, type Values } from '../values.ts'

/** What JSON, XML and form posts to an address of one's own have in common. */
export const CUSTOM_TEMPLATES = [`${LOGIN}${HOST_PORT}[/{fullpath}]`]

const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE', 'HEAD'] as const
/** As other paths, and with a slash at its end, without which many receivers answer with a redirect. */
const PATH: Field = { label: 'Path', type: 'string', pattern: /^(?!\/)(?!(?:.*\/)?\.{1,2}(?:\/|$))[^?#\\]+$/ }
// All may carry keys of the receiver.
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

/** Address and headers of the request. The receiver sees the address that was given, also the slash at its end. */
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

/** The fields of the message, renamed, left out or added to as the owner asked. */
export function toPayload (base: Readonly<Record<string, string>>, { list }: Values): Record<string, string> {
  const wanted = toPairs(list('payload'))
  const renamed = Object.entries(base).map(([key, value]): [string, string] => [wanted[key] ?? key, value])
  const added = Object.entries(wanted).filter(([key]) => !Object.hasOwn(base, key))
  return Object.fromEntries([...renamed.filter(([key]) => key !== ''), ...added])
}
