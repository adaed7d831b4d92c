import type { Transporter } from 'nodemailer'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { ApiError, badRequest } from '../../core/errors.ts'

/** One message to one person. */
export interface Mail { to: string, subject: string, text: string, html?: string }

/** For each step of the conversation; a mail server that says nothing for so long is as good as down. */
const TIMEOUT_MS = 15_000
/** Exactly one address: a comma or a line end would make it more than that. */
const ADDRESS = /^[^\s@,;:<>()[\]\\"]{1,64}@[^\s@,;:<>()[\]\\"]{1,255}$/

async function createTransporter ({ host, port, security, username, password }: Config['mail']): Promise<Transporter> {
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

/** @throws ApiError BAD_REQUEST when a text could add a header or a further recipient. */
function checkMail ({ to, subject }: Mail): void {
  if (!ADDRESS.test(to)) throw badRequest(`'${to.slice(0, 100)}' is not one email address; use name@example.org`)
  if (/[\r\n\0]/.test(subject)) throw badRequest('The subject of a mail is one line; leave line ends out')
}

export function createMail (config: Config, log: FastifyBaseLogger) {
  const { host, port, from, username } = config.mail
  const sender = from ?? username
  const isConfigured = host !== undefined && sender !== undefined
  if (host !== undefined && sender === undefined) log.warn('SMTP_HOST is set but no mail is sent: set SMTP_FROM to its sender')
  let transporter: Transporter | null = null

  return {
    /** Whether mail can be sent at all. */
    isConfigured,

    /** Hands a message to the mail server. @throws ApiError BAD_REQUEST, or UNAVAILABLE with what the server said. */
    async send (mail: Mail): Promise<void> {
      if (!isConfigured) throw new ApiError('UNAVAILABLE', 'No mail can be sent: set SMTP_HOST and SMTP_FROM')
      checkMail(mail)
      transporter ??= await createTransporter(config.mail)
      try {
        // As an object an address is taken as it is, and not as a list of them.
        await transporter.sendMail({ ...mail, from: sender, to: { name: '', address: mail.to } })
      } catch (err) {
        throw new ApiError('UNAVAILABLE', `The mail server ${host}:${port} did not take the mail: ${(err as Error).message}. ` +
          'Check the settings that begin with SMTP_', { cause: err })
      }
    }
  }
}
