import { checkFields } from './fields.ts'
import { type Fields, type Form, fieldsOf, isToken } from './form.ts'
import { writeUrl } from './url.ts'

const MASK = '***'
/** What a part of an address that is never secret is called at every service. */
const OPEN_PARTS = ['schema', 'host', 'port']

/** The URL of a channel without secrets and options. */
export function describeAddress (form: Form, fields: Fields): string {
  const parts = Object.entries(checkFields(form, fields)).filter(([key]) => isToken(form, key))
    .map(([key, value]): [string, Fields[string]] => [key, form.fields[key]?.private === true ? MASK : value])
  return writeUrl(form, Object.fromEntries(parts))
}

/** The same for a service only the bridge knows: its host is all that can be told apart from a secret. */
export function describeUnknown (service: string, { schema, host }: Fields): string {
  const name = typeof schema === 'string' ? schema : service
  return typeof host === 'string' ? `${name}://${host}/${MASK}` : `${name}://${MASK}`
}

/** Of such a service nobody knows which field leads where: all of them together do. */
export function nameUnknown (service: string, fields: Fields): string {
  return JSON.stringify([service, Object.entries(fields).sort(([a], [b]) => a.localeCompare(b))])
}

/** The keys of the fields that are secret; of a service only the bridge knows, all but the parts that never are. */
export function listSecretKeys (form: Form | undefined, fields: Fields): string[] {
  if (form === undefined) return Object.keys(fields).filter((key) => !OPEN_PARTS.includes(key))
  const known = fieldsOf(form)
  return Object.keys(fields).filter((key) => known[key] === undefined || known[key].private === true)
}
