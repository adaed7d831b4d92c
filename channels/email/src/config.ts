import { type Context, type Static, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  host: Type.String({ env: 'SMTP_HOST', minLength: 1, description: 'Name or address of the mail server' }),
  port: Type.Integer({ env: 'SMTP_PORT', default: 587, minimum: 1, maximum: 65_535, description: 'Port of the mail server' }),
  security: Type.Union([Type.Literal('starttls'), Type.Literal('tls'), Type.Literal('none')], {
    env: 'SMTP_SECURITY',
    default: 'starttls',
    description: 'starttls: encrypted after the greeting; tls: from the first byte, usually port 465; none: not at all'
  }),
  username: Type.Optional(Type.String({ env: 'SMTP_USERNAME', description: 'Account, if the server requires one' })),
  password: Type.Optional(Type.String({ env: 'SMTP_PASSWORD', writeOnly: true, description: 'Password of the account' })),
  from: Type.String({
    env: 'SMTP_FROM', pattern: '^[^\\r\\n]+@[^\\s@]+$', description: 'Sender: an address, or Name <address>'
  }),
  tlsCa: Type.Optional(Type.String({
    env: 'SMTP_TLS_CA',
    pattern: 'BEGIN CERTIFICATE',
    description: 'Certificate in PEM form that is trusted for the mail server instead of the public authorities'
  }))
})
export type Config = Static<typeof ConfigSchema>
export type EmailContext = Context<Config>

// No white space, control characters, or separators, quotes and groups of addresses: one recipient, no header.
const PART = '[^\\s@,;:<>()"\\[\\]\\\\\\u0000-\\u001f\\u007f]'
const LABEL = PART.replace('@', '@.')
const ADDRESS = `^${PART}{1,64}@${LABEL}{1,63}(?:\\.${LABEL}{1,63})*$`

export const SettingsSchema = Type.Object({
  address: Type.String({ maxLength: 320, pattern: ADDRESS, description: 'Address of one recipient' })
})
export type Settings = Static<typeof SettingsSchema>

export function isAddress (text: string): boolean {
  return text.length <= 320 && new RegExp(ADDRESS).test(text)
}
