import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

/** A mail server, and the settings to reach it. */
export async function startMail (baseUrl = 'https://games.example.org/svc') {
  const mails: string[] = []
  /** The status with which the server refuses each recipient; null while it accepts all. */
  const refusal: { status: number | null } = { status: null }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo (_address, _session, done) {
      done(refusal.status === null ? null : Object.assign(new Error('Greylisted'), { responseCode: refusal.status }))
    },
    onData (stream, _session, done) { void text(stream).then((content) => { mails.push(content) }).finally(done) }
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  const env = {
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String((server.server.address() as AddressInfo).port),
    SMTP_SECURITY: 'none',
    SMTP_FROM: 'svc@example.org',
    SVC_BASE_URL: baseUrl
  }
  return { mails, refusal, server, env }
}

/** Returns the reset link in a mail. */
export function linkOf (mail: string): string | undefined {
  const [link] = /https:\/\/[\w./-]+\/reset-password\?token=[\w.-]+/
    .exec(mail.replace(/=\r?\n/g, '').replaceAll('=3D', '=')) ?? []
  return link
}
