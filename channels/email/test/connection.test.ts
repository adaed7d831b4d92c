import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { ServiceDownError } from '@svc/plugin-sdk'
import t, { type Test } from 'tap'
import type { Config } from '../src/config.ts'
import { describeFailure } from '../src/failure.ts'
import { type Mail, renderConfirmation } from '../src/render.ts'
import { type SendOptions, sendMail } from '../src/send.ts'
import { ACCOUNT, CERTIFICATE, readFixture, startMailServer, startSilentServer } from './mail-server.ts'

const mail: Mail = renderConfirmation('123456', 'ada@home.example')
const config = { host: '127.0.0.1', ...ACCOUNT, from: 'svc@games.example', tlsCa: CERTIFICATE }

function send (given: Pick<Config, 'port' | 'security'> & Partial<Config>, options: Partial<SendOptions> = {}) {
  return sendMail(mail, { ...config, ...given }, { signal: new AbortController().signal, ...options })
}

async function until (isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => { setImmediate(resolve) })
}

const fails = (t: Test, promise: Promise<void>, message: RegExp) =>
  t.rejects(promise, { name: 'ServiceDownError', message })

for (const security of ['starttls', 'tls', 'none'] as const) {
  t.test(`security ${security}: the mail arrives over the expected connection`, async (t) => {
    const { port, received } = await startMailServer(t, { security })
    await send({ port, security })
    t.match(received, [{ isSecure: security !== 'none', user: ACCOUNT.username, to: ['ada@home.example'] }])
  })
}

t.test('an untrusted certificate is refused before the password is sent', async (t) => {
  for (const security of ['starttls', 'tls'] as const) {
    const { port, received } = await startMailServer(t, { security })
    await fails(t, send({ port, security, tlsCa: undefined }), /self-signed certificate.*; set SMTP_TLS_CA to/)
    t.same(received, [])
  }
})

t.test('a certificate that expired, or is for another name, has its own remedy', async (t) => {
  const { port } = await startMailServer(t, { certificate: 'expired.crt' })
  const tlsCa = readFixture('expired.crt')
  await fails(t, send({ port, security: 'starttls', tlsCa }), /certificate has expired; renew the certificate of the mail server/)
  const { message } = describeFailure(new Error("Hostname/IP does not match certificate's altnames: Host: mail. is not in the list: "),
    mail.to, { ...config, port, security: 'tls' }, null)
  t.match(message, /is not in the list; set SMTP_HOST to a name in its certificate$/)
})

t.test('the certificate may contain escaped line breaks', async (t) => {
  const { port, received } = await startMailServer(t)
  await send({ port, security: 'starttls', tlsCa: CERTIFICATE.replaceAll('\n', '\\n') })
  t.equal(received.length, 1)
})

t.test('a server without encryption gets no mail unless configured', async (t) => {
  const { port, received } = await startMailServer(t, { security: 'none' })
  await fails(t, send({ port, security: 'starttls' }), /check SMTP_SECURITY and SMTP_PORT/)
  await fails(t, send({ port, security: 'tls' }), /it does not speak TLS from the first byte; check SMTP_SECURITY and SMTP_PORT/)
  t.same(received, [])
})

t.test('a silent or stalled server is given up after the time limit', async (t) => {
  for (const line of ['', '220 mail.example ready\r\n', '220-and\r\n220-so\r\n']) {
    const { port, sockets } = await startSilentServer(t, line)
    await fails(t, send({ port, security: 'none' }, { timeoutMs: 100 }), /took longer than 100 ms; check SMTP_SECURITY and SMTP_PORT/)
    await until(() => sockets.size === 0)
  }
})

t.test('an aborted signal ends a running mail with its reason and disconnects', async (t) => {
  const { port, sockets } = await startSilentServer(t, '220 mail.example ready\r\n')
  const controller = new AbortController()
  const reason = new Error('the server stops')
  const sending = send({ port, security: 'none' }, { signal: controller.signal })
  const caught = sending.catch((err: unknown) => err)
  await until(() => sockets.size === 1)
  controller.abort(reason)
  t.equal(await caught, reason)
  await until(() => sockets.size === 0)
})

t.test('errors for a missing server and an invalid name say what to check', async (t) => {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  listener.close()
  await once(listener, 'close')
  await fails(t, send({ port, security: 'none' }), /ECONNREFUSED.*; check SMTP_HOST and SMTP_PORT/)
  const error = await send({ host: 'mail.invalid', port, security: 'none' }).then(() => null, (err: Error) => err)
  t.type(error, ServiceDownError)
  t.match(error?.message, /The mail server 'mail\.invalid:\d+' .*; check SMTP_HOST and SMTP_PORT/)
})
