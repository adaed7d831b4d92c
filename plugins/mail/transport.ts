import type { Transporter } from 'nodemailer'
import type { Config } from '../../core/config/config.ts'

/** For each step of the conversation; a mail server that says nothing for so long is as good as down. */
const TIMEOUT_MS = 15_000

/** Exactly one address: a comma or a line end would make it more than that. */
export const ADDRESS = /^[^\s@,;:<>()[\]\\"]{1,64}@[^\s@,;:<>()[\]\\"]{1,255}$/

/** A way to the mail server of the configuration. */
export async function createTransporter ({ host, port, security, username, password }: Config['mail']): Promise<Transporter> {
  // Loaded with the first mail: most servers send none.
  const { createTransport } = await import('nodemailer')
  return createTransport({
    ...(host === undefined ? {} : { host }),
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(username === undefined ? {} : { auth: { user: username, pass: password ?? '' } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    // A message is text from us: no part of it names a file or an address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true
  })
}
