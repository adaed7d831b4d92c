import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

/** A mail server, and the settings to reach it. */
export async function startMail (baseUrl = 'https://games.example.org/svc') {
  const mails: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
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
  return { mails, server, env }
}

/** Returns the reset link in a mail. */
export function linkOf (mail: string): string | undefined {
  const [link] = /https:\/\/[\w./-]+\/reset-password\?token=[\w.-]+/
    .exec(mail.replace(/=\r?\n/g, '').replaceAll('=3D', '=')) ?? []
  return link
}
