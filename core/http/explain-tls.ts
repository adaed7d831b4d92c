import { errorCode } from '../files/fs-error.ts'

/** Codes of a certificate that no known authority signed: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const UNTRUSTED = new Set(['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'])
/** Codes of OpenSSL for an answer that is no TLS, such as one of a server for plain HTTP. */
const NO_TLS = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'ERR_SSL_UNEXPECTED_MESSAGE'])
/** The reason in a line of OpenSSL, such as `…:error:0A00042E:SSL routines:ssl3_read_bytes:REASON:../deps/…:918:`. */
const OPENSSL_REASON = /:SSL routines:[^:]*:([^:]+):/

/** Describes a failure of TLS with its remedy; null for any other error. */
export function explainTls (err: unknown): string | null {
  const code = errorCode(err)
  if (UNTRUSTED.has(code)) {
    return 'its certificate is self-signed, or of an authority that this server does not know; use another certificate there, or start ' +
      'this server with NODE_EXTRA_CA_CERTS, the path of a file with the certificate of that authority'
  }
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired; renew it there, or correct the clock of this machine'
  if (code === 'CERT_NOT_YET_VALID') return 'its certificate is not valid yet; correct the clock of this machine'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `${(err as Error).message.replace(/:?\s*$/, '')}; use a name of the certificate in the address`
  }
  if (NO_TLS.has(code)) return 'it does not speak TLS at this port; use http in the address, or another port'
  if (!code.startsWith('ERR_SSL_') && code !== 'EPROTO') return null
  const reason = OPENSSL_REASON.exec((err as Error).message)?.[1] ?? code
  return `TLS failed (${reason}); check which versions of TLS the service supports`
}
