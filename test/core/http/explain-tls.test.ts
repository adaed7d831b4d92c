import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import t, { type Test } from 'tap'
import { CERTIFICATE, CERTIFICATE_KEY, EXPIRED_CERTIFICATE } from '../../plugins/fixtures/certificate.ts'
import { startClient, startServer } from './server.ts'

async function startSecure (t: Test, cert: string, options: tls.SecureContextOptions = {}): Promise<number> {
  const server = createServer({ key: CERTIFICATE_KEY, cert, ...options }, (_request, response) => response.end('here'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.close() })
  return (server.address() as AddressInfo).port
}

/** Returns the message of a request that fails. */
async function failAt (t: Test, url: string): Promise<string> {
  return await startClient(t).request(url, { retry: false }).then(() => 'it answered', (err: Error) => err.message)
}

t.test('a certificate that cannot be trusted is refused with the remedy', async (t) => {
  const port = await startSecure(t, CERTIFICATE)
  t.match(await failAt(t, `https://127.0.0.1:${port}/`), /failed: its certificate is self-signed, .* NODE_EXTRA_CA_CERTS, the path of a file/)
  const authorities = tls.getCACertificates()
  // Same effect as NODE_EXTRA_CA_CERTS at the start.
  tls.setDefaultCACertificates([...authorities, CERTIFICATE, EXPIRED_CERTIFICATE])
  t.teardown(() => { tls.setDefaultCACertificates(authorities) })
  t.equal(await failAt(t, `https://127.0.0.1:${port}/`), 'it answered')
  t.match(await failAt(t, `https://localhost:${port}/`), /altnames: Host: localhost\. .*; use a name of the certificate in the address$/)
  const expired = await startSecure(t, EXPIRED_CERTIFICATE)
  t.match(await failAt(t, `https://127.0.0.1:${expired}/`), /failed: its certificate has expired; renew it there/)
})

t.test('a request to a port of the other protocol names the address as the reason', async (t) => {
  const plain = await startServer(t, (_request, response) => response.end())
  t.match(await failAt(t, `https://${plain.host}/`), /failed: it does not speak TLS at this port; use http in the address, or another port$/)
  const port = await startSecure(t, CERTIFICATE)
  t.match(await failAt(t, `http://127.0.0.1:${port}/`), /; check that the service can be reached, and whether it expects https$/)
})

t.test('a service without a common version of TLS is named in one line', async (t) => {
  const port = await startSecure(t, CERTIFICATE, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' })
  t.match(await failAt(t, `https://127.0.0.1:${port}/`), /failed: TLS failed \(tlsv1 alert protocol version\); check which versions of TLS/)
})
