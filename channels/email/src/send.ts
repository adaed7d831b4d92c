import type { Config } from './config.ts'
import { describeFailure } from './failure.ts'
import type { Mail } from './render.ts'

export const TIMEOUT_MS = 15_000

/** The time is that of the whole: looking up the name, connecting, greeting, encryption, login and the message. */
export interface SendOptions {
  signal: AbortSignal
  timeoutMs?: number
}

/** @throws the reason of `signal`, or as `describeFailure` says */
export async function sendMail (mail: Mail, config: Config, options: SendOptions): Promise<void> {
  const { signal, timeoutMs = TIMEOUT_MS } = options
  const timer = AbortSignal.timeout(timeoutMs)
  try {
    // Loaded with the first mail: most servers send none.
    const { default: nodemailer } = await import('nodemailer')
    await nodemailer.createTransport(toTransport(config)).sendMail({
      ...mail,
      from: config.from,
      // An object is taken as it is, where a text would be split at commas.
      to: { name: '', address: mail.to },
      // RFC 3834: nobody on holiday answers a machine.
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal: AbortSignal.any([signal, timer])
    })
  } catch (err) {
    signal.throwIfAborted()
    throw describeFailure(err, mail.to, config, timer.aborted ? timeoutMs : null)
  }
}

/** A connection of its own for every mail: there are few, and none is left open for days. */
function toTransport ({ host, port, security, username = '', password = '', tlsCa }: Config) {
  return {
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    // Variables often cannot hold line breaks.
    tls: tlsCa === undefined ? {} : { ca: tlsCa.replaceAll('\\n', '\n') },
    auth: username === '' ? undefined : { user: username, pass: password },
    disableFileAccess: true,
    disableUrlAccess: true
  }
}
