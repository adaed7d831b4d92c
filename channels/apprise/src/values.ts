import { type Fields, type Form, fieldsOf } from './form.ts'

/** The checked fields of one channel, by type. */
export interface Values {
  /** Returns a text; empty when not set. */
  text (key: string): string
  number (key: string): number | null
  /** Returns a switch; the default when not set. */
  flag (key: string): boolean
  list (key: string): readonly string[]
  /** The origin `https://host:port`, for services with a host. */
  readonly origin: string
  /** The header for user and password, if set. */
  readonly login: Readonly<Record<string, string>>
}

export function readValues (form: Form, fields: Fields): Values {
  const text = (key: string) => typeof fields[key] === 'string' || typeof fields[key] === 'number' ? String(fields[key]) : ''
  const scheme = form.plain.includes(text('schema') || form.id) ? 'http' : 'https'
  const port = text('port')
  return {
    text,
    number: (key) => typeof fields[key] === 'number' ? fields[key] : null,
    flag: (key) => (fields[key] ?? fieldsOf(form)[key]?.default) === true,
    list: (key) => Array.isArray(fields[key]) ? fields[key] : [],
    origin: `${scheme}://${text('host')}${port === '' ? '' : `:${port}`}`,
    login: fields.user === undefined && fields.password === undefined ? {} : basicLogin(text('user'), text('password'))
  }
}

export function basicLogin (user: string, password: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}

/** Converts `name=value` entries to an object. */
export function toPairs (entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(entries.map((entry) => {
    const at = entry.indexOf('=')
    return at === -1 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)]
  }))
}
