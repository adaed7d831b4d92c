import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section } from '../../core/config/setting.ts'
import { StringEnum } from '../../core/typebox.ts'

export const mailConfig = defineSection('mail', Section({
  host: Type.Optional(Type.String({
    minLength: 1, env: 'SMTP_HOST', description: 'Server for outgoing mail; without it no mail is sent'
  })),
  port: Type.Integer({ default: 587, minimum: 1, maximum: 65535, env: 'SMTP_PORT', description: 'Port of that server' }),
  security: StringEnum(['starttls', 'tls', 'none'], {
    default: 'starttls',
    env: 'SMTP_SECURITY',
    description: 'starttls is usual on port 587, tls on port 465; none sends passwords and mail unencrypted'
  }),
  username: Type.Optional(Type.String({ env: 'SMTP_USERNAME', description: 'Account on that server, if it requires one' })),
  password: Type.Optional(Type.String({
    writeOnly: true, env: 'SMTP_PASSWORD', description: 'Password of that account'
  })),
  tls_ca: Type.Optional(Type.String({
    minLength: 1,
    env: 'SMTP_TLS_CA',
    description: 'Certificate in PEM form that is trusted for that server instead of the public authorities'
  })),
  from: Type.Optional(Type.String({
    minLength: 3, env: 'SMTP_FROM', description: 'Sender of the mail, such as svc@example.org; default: the account'
  }))
}, 'Outgoing mail'))
