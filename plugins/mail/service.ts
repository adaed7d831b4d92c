import type { Transporter } from 'nodemailer'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { ApiError, badRequest } from '../../core/errors.ts'
import { ADDRESS, createTransporter } from './transport.ts'

/** One message to one person. */
export interface Mail { to: string, subject: string, text: string, html?: string }

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
