import type { Transporter } from 'nodemailer'
import type { SectionOf } from '../../core/config/section.ts'
import type { mailConfig } from './config.ts'

/** Timeout for each step of the conversation with the mail server. */
const TIMEOUT_MS = 15_000

/** Matches exactly one address. A comma or a line end would add another one. */
export const ADDRESS = /^[^\s@,;:<>()[\]\\"]{1,64}@[^\s@,;:<>()[\]\\"]{1,255}$/

/** Creates a transporter to the configured mail server. */
export async function createTransporter (
  { host, port, security, username, password, tls_ca: authority }: SectionOf<typeof mailConfig>
): Promise<Transporter> {
  // Loaded with the first mail, because most servers send none.
  const { createTransport } = await import('nodemailer')
  return createTransport({
    ...(host === undefined ? {} : { host }),
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    // Environment variables often cannot hold line breaks.
    ...(authority === undefined ? {} : { tls: { ca: authority.replaceAll('\\n', '\n') } }),
    ...(username === undefined ? {} : { auth: { user: username, pass: password ?? '' } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    // The server writes the message itself, so no part of it may name a file or URL to load.
    disableFileAccess: true,
    disableUrlAccess: true
  })
}
