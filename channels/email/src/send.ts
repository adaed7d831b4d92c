import type { Config } from './config.ts'
import { describeFailure } from './failure.ts'
import type { Mail } from './render.ts'

export const TIMEOUT_MS = 15_000

/** The time limit covers everything: name lookup, connection, greeting, encryption, login and message. */
export interface SendOptions {
  signal: AbortSignal
  timeoutMs?: number
}

/** @throws the reason of `signal`, or the error of `describeFailure` */
export async function sendMail (mail: Mail, config: Config, options: SendOptions): Promise<void> {
  const { signal, timeoutMs = TIMEOUT_MS } = options
  const timer = AbortSignal.timeout(timeoutMs)
  try {
    // nodemailer loads with the first mail, because most servers send none.
    const { default: nodemailer } = await import('nodemailer')
    await nodemailer.createTransport(toTransport(config)).sendMail({
      ...mail,
      from: config.from,
      // An object stays as it is; a text would be split at commas.
      to: { name: '', address: mail.to },
      // RFC 3834: suppresses automatic replies, such as holiday notices.
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal: AbortSignal.any([signal, timer])
    })
  } catch (err) {
    signal.throwIfAborted()
    throw describeFailure(err, mail.to, config, timer.aborted ? timeoutMs : null)
  }
}

/**
 * Opens a separate connection for every mail, because mails are rare and an idle connection would stay open for days.
 */
function toTransport ({ host, port, security, username = '', password = '', tlsCa }: Config) {
  return {
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    // Environment variables often cannot hold line breaks.
    tls: tlsCa === undefined ? {} : { ca: tlsCa.replaceAll('\\n', '\n') },
    auth: username === '' ? undefined : { user: username, pass: password },
    disableFileAccess: true,
    disableUrlAccess: true
  }
}
