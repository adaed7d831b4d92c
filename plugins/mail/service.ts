import type { Transporter } from 'nodemailer'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { ApiError, badRequest } from '../../core/errors.ts'
import { mailConfig } from './config.ts'
import { ADDRESS, createTransporter } from './transport.ts'

/** One message to one recipient. */
export interface Mail { to: string, subject: string, text: string, html?: string }

/** @throws ApiError BAD_REQUEST if a text could add a header or another recipient. */
function checkMail ({ to, subject }: Mail): void {
  if (!ADDRESS.test(to)) throw badRequest(`'${to.slice(0, 100)}' is not one email address; use name@example.org`)
  if (/[\r\n\0]/.test(subject)) throw badRequest('The subject of a mail must be one line; remove the line breaks')
}

export function createMail (config: Config, log: FastifyBaseLogger) {
  const { host, port, from, username } = mailConfig.of(config)
  const sender = from ?? username
  const isConfigured = host !== undefined && sender !== undefined
  if (host !== undefined && sender === undefined) log.warn('no mail is sent, because SMTP_HOST is set without a sender: set SMTP_FROM')
  let transporter: Transporter | null = null

  return {
    /** True if the settings for mail are complete. */
    isConfigured,

    /**
     * Sends a message to the mail server.
     *
     * @throws ApiError BAD_REQUEST, or UNAVAILABLE with the error of the server.
     */
    async send (mail: Mail): Promise<void> {
      if (!isConfigured) throw new ApiError('UNAVAILABLE', 'No mail can be sent: set SMTP_HOST and SMTP_FROM')
      checkMail(mail)
      transporter ??= await createTransporter(mailConfig.of(config))
      try {
        // An address in an object is used as it is; a plain text would be parsed as a list.
        await transporter.sendMail({ ...mail, from: sender, to: { name: '', address: mail.to } })
      } catch (err) {
        throw new ApiError('UNAVAILABLE', `The mail server ${host}:${port} did not accept the mail: ${(err as Error).message}. ` +
          'Check the settings that begin with SMTP_', { cause: err })
      }
    }
  }
}
