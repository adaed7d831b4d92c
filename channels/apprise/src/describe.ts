import { checkFields } from './fields.ts'
import { type Fields, type Form, fieldsOf, isToken } from './form.ts'
import { writeUrl } from './url.ts'

const MASK = '***'
/** The keys of URL parts that are never secret, at any service. */
const OPEN_PARTS = ['schema', 'host', 'port']

/** Renders the URL of a channel without secrets and options. */
export function describeAddress (form: Form, fields: Fields): string {
  const parts = Object.entries(checkFields(form, fields)).filter(([key]) => isToken(form, key))
    .map(([key, value]): [string, Fields[string]] => [key, form.fields[key]?.private === true ? MASK : value])
  return writeUrl(form, Object.fromEntries(parts))
}

/** Describes a service that only the bridge knows, by its host, the only part that is certainly not secret. */
export function describeUnknown (service: string, { schema, host }: Fields): string {
  const name = typeof schema === 'string' ? schema : service
  return typeof host === 'string' ? `${name}://${host}/${MASK}` : `${name}://${MASK}`
}

/** Returns an identity of all fields, because nobody knows which field of such a service selects the destination. */
export function nameUnknown (service: string, fields: Fields): string {
  return JSON.stringify([service, Object.entries(fields).sort(([a], [b]) => a.localeCompare(b))])
}

/**
 * Lists the keys of secret fields. For a service that only the bridge knows, all fields count except those that are
 * never secret.
 */
export function listSecretKeys (form: Form | undefined, fields: Fields): string[] {
  if (form === undefined) return Object.keys(fields).filter((key) => !OPEN_PARTS.includes(key))
  const declared = fieldsOf(form)
  return Object.keys(fields).filter((key) => declared[key] === undefined || declared[key].private === true)
}
