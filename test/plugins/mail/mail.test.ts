import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'
import { pino } from 'pino'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import t, { type Test } from 'tap'
import { createMail } from '../../../plugins/mail/service.ts'
import { loadConfig } from '../../load-config.ts'
import { CERTIFICATE, CERTIFICATE_KEY } from '../fixtures/certificate.ts'

interface Received { from: string, to: string[], content: string, isSecure: boolean, user: unknown }

/** A mail server that stores received mails. */
async function startServer (t: Test, options: SMTPServerOptions = {}) {
  const received: Received[] = []
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    ...options,
    onAuth ({ username, password }, _session, done) {
      if (username === 'svc' && password === 'secret') done(null, { user: username })
      else done(new Error('5.7.8 no such account'))
    },
    onData (stream, session, done) {
      void text(stream).then((content) => {
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom === false ? '' : mailFrom.address
        const to = rcptTo.map(({ address }) => address)
        received.push({ from, to, content, isSecure: session.secure, user: session.user })
        done()
      })
    }
  })
  server.on('error', () => { /* A client that refuses the test certificate closes the connection. */ })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => new Promise<void>((resolve) => { server.close(() => { resolve() }) }))
  const { port } = server.server.address() as AddressInfo
  return { received, env: { SMTP_HOST: '127.0.0.1', SMTP_PORT: String(port), SMTP_FROM: 'Games <svc@example.org>' } }
}

const mailOf = (t: Test, env: Record<string, string>) => {
  const { config } = loadConfig({ SVC_DATA_DIR: t.testdir({}), SVC_AUTH_SECRET_KEY: 'a key for tests only', ...env })
  return createMail(config, pino({ level: 'silent' }))
}
const MAIL = { to: 'alice@example.org', subject: 'Grüße', text: 'Hello\n' }

t.test('without a server no mail is sent, and the error names the missing settings', async (t) => {
  t.equal(mailOf(t, {}).isConfigured, false)
  t.equal(mailOf(t, { SMTP_HOST: '127.0.0.1' }).isConfigured, false, 'nor without a sender')
  t.equal(mailOf(t, { SMTP_HOST: '127.0.0.1', SMTP_USERNAME: 'svc@example.org' }).isConfigured, true, 'which may be the account')
  await t.rejects(mailOf(t, {}).send(MAIL), { statusCode: 503, message: /SMTP_HOST and SMTP_FROM/ })
})

t.test('a mail arrives as text and as HTML', async (t) => {
  const { received, env } = await startServer(t, { disabledCommands: ['STARTTLS'] })
  await mailOf(t, { ...env, SMTP_SECURITY: 'none', SMTP_USERNAME: 'svc', SMTP_PASSWORD: 'secret' })
    .send({ ...MAIL, html: '<p>Hello</p>' })
  t.match(received, [{ from: 'svc@example.org', to: ['alice@example.org'], user: 'svc', isSecure: false }])
  const { content = '' } = received[0] ?? {}
  t.match(content, /^Subject: =\?UTF-8\?/m)
  t.match(content, /^From: Games <svc@example\.org>\r?$/m)
  t.match(content, /text\/plain[^]*Hello[^]*text\/html[^]*<p>Hello<\/p>/)
})

t.test('no field of a mail adds a header or a recipient', async (t) => {
  const { received, env } = await startServer(t, { disabledCommands: ['STARTTLS'] })
  const mail = mailOf(t, { ...env, SMTP_SECURITY: 'none' })
  const forged = ['a@b.org\r\nBcc: c@d.org', 'a@b.org, c@d.org', 'a@b.org;c@d.org', 'x <a@b.org>', '<a@b.org>', '"x" a@b.org', 'a', '']
  for (const to of forged) await t.rejects(mail.send({ ...MAIL, to }), { statusCode: 400, message: /not one email address/ }, to)
  for (const end of ['\r\n', '\n', '\r']) {
    const subject = `Hi${end}Bcc: c@d.org`
    await t.rejects(mail.send({ ...MAIL, subject }), { statusCode: 400, message: /one line/ })
  }
  t.same(received, [])
})

t.test('the error contains the reason of a refusing server', async (t) => {
  const { env } = await startServer(t, { disabledCommands: ['STARTTLS'] })
  const wrong = mailOf(t, { ...env, SMTP_SECURITY: 'none', SMTP_USERNAME: 'svc', SMTP_PASSWORD: 'wrong' })
  await t.rejects(wrong.send(MAIL), { statusCode: 503, message: /no such account.*SMTP_/ })
  t.notMatch(await wrong.send(MAIL).catch((err: Error) => err.message), 'wrong')
  const nobody = mailOf(t, { ...env, SMTP_PORT: '1', SMTP_SECURITY: 'none' })
  await t.rejects(nobody.send(MAIL), { statusCode: 503, message: /127\.0\.0\.1:1 did not accept the mail/ })
  await t.rejects(mailOf(t, env).send(MAIL), { statusCode: 503, message: /STARTTLS/ })
})

t.test('STARTTLS and TLS are used only with a certificate that is trusted', async (t) => {
  const certificate = { key: CERTIFICATE_KEY, cert: CERTIFICATE }
  const starttls = await startServer(t, certificate)
  const tlsOnly = await startServer(t, { ...certificate, secure: true })
  const send = async () => {
    await mailOf(t, starttls.env).send(MAIL)
    await mailOf(t, { ...tlsOnly.env, SMTP_SECURITY: 'tls' }).send(MAIL)
  }
  await t.rejects(send(), { message: /self-signed certificate/ })
  const authorities = tls.getCACertificates()
  // Same effect as NODE_EXTRA_CA_CERTS at the start.
  tls.setDefaultCACertificates([...authorities, CERTIFICATE])
  t.teardown(() => { tls.setDefaultCACertificates(authorities) })
  await send()
  t.match([starttls.received, tlsOnly.received], [[{ isSecure: true }], [{ isSecure: true }]])
})

t.test('a self-made certificate is trusted if SMTP_TLS_CA has it', async (t) => {
  const { received, env } = await startServer(t, { key: CERTIFICATE_KEY, cert: CERTIFICATE })
  for (const authority of [CERTIFICATE, CERTIFICATE.replaceAll('\n', '\\n')]) {
    await mailOf(t, { ...env, SMTP_TLS_CA: authority }).send(MAIL)
  }
  t.match(received, [{ isSecure: true }, { isSecure: true }])
})
