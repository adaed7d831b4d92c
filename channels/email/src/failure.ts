import { CredentialsRefusedError, DeliveryRefusedError, ServiceDownError } from '@svc/plugin-sdk'
import type { Config } from './config.ts'

const QUOTED_CHARACTERS = 200
/** Codes of OpenSSL for an answer that is no TLS. */
const NO_TLS = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'ERR_SSL_UNEXPECTED_MESSAGE'])

/** The facts about a failure from the mail library. */
interface Failure {
  /** The library's own code, such as EAUTH, and the system's, such as ECONNREFUSED. */
  code: string
  originalCode: string
  /** The command that failed; CONN before the first command. */
  command: string
  /** The status in the server's response, or 0. */
  status: number
  text: string
}

/**
 * Creates the error for a failure. DeliveryRefusedError when the server permanently refuses the recipient or the
 * message (5xx), CredentialsRefusedError when it refuses the account, else ServiceDownError. No message shows the
 * password.
 *
 * @param limitMs the time limit that has passed, or null
 */
export function describeFailure (err: unknown, address: string, config: Config, limitMs: number | null): Error {
  const server = `The mail server '${config.host}:${config.port}'`
  if (limitMs !== null) return new ServiceDownError(`${server} took longer than ${limitMs} ms; check SMTP_SECURITY and SMTP_PORT, or try again later`)
  const failure = readFailure(err)
  const { code, command, status } = failure
  const text = hidePassword(describeTls(failure), config).replace(/[\s\p{C}]+/gu, ' ').trim()
  const serverText = text.slice(0, QUOTED_CHARACTERS).toWellFormed()
  if (code === 'EAUTH' && !isTemporary(status)) {
    return new CredentialsRefusedError(`${server} refuses the account: ${serverText}; check SMTP_USERNAME and SMTP_PASSWORD`)
  }
  if (isPermanent(status) && command === 'RCPT TO') {
    return new DeliveryRefusedError(`${server} refuses the address '${address}': ${serverText}; check the address`)
  }
  if (isPermanent(status) && (command === 'MAIL FROM' || command === 'DATA')) {
    return new DeliveryRefusedError(`${server} refuses the mail: ${serverText}; check SMTP_FROM and the server's log`)
  }
  return new ServiceDownError(`${server} did not accept the mail: ${serverText}; ${toAdvice(failure)}`)
}

function readFailure (err: unknown): Failure {
  const facts = new Map<string, unknown>(Object.entries(err instanceof Error ? err : {}))
  const read = (name: string) => { const value = facts.get(name); return typeof value === 'string' ? value : '' }
  const status = facts.get('responseCode')
  const message = err instanceof Error ? err.message : String(err)
  return {
    code: read('code'),
    originalCode: read('originalCode'),
    command: read('command'),
    status: typeof status === 'number' ? status : 0,
    text: read('response') || message
  }
}

function isTemporary (status: number): boolean {
  return status >= 400 && status < 500
}

/** True for a permanent status (RFC 5321, 4.2.1). 503 is about the order of commands, not about their content. */
function isPermanent (status: number): boolean {
  return status >= 500 && status < 600 && status !== 503
}

/** Names the certificates and ports that people confuse, in place of the text of OpenSSL or of Node. */
function describeTls ({ originalCode, text }: Failure): string {
  if (NO_TLS.has(originalCode)) return 'it does not speak TLS from the first byte'
  return text.replace(/; if the root CA is installed locally.*/s, '').replace(/:\s*$/, '')
}

function toAdvice ({ code, originalCode, status, text }: Failure): string {
  if (isTemporary(status)) return 'try again later'
  if (/certificate has expired/.test(text)) return 'renew the certificate of the mail server, or correct the clock of this machine'
  if (/not yet valid/.test(text)) return 'correct the clock of this machine'
  if (/altnames/.test(text)) return 'set SMTP_HOST to a name in its certificate'
  if (/certificate/i.test(text)) return 'set SMTP_TLS_CA to the certificate of your own authority'
  if (code === 'ETLS' || originalCode.startsWith('ERR_SSL')) return 'check SMTP_SECURITY and SMTP_PORT'
  return 'check SMTP_HOST and SMTP_PORT'
}

/** Masks the password, also in both encodings in which SMTP sends it. */
function hidePassword (text: string, { username = '', password = '' }: Config): string {
  if (password === '') return text
  const forms = [password, toBase64(password), toBase64(`\0${username}\0${password}`)]
  return forms.reduce((shown, form) => shown.replaceAll(form, '***'), text)
}

function toBase64 (text: string): string {
  return Buffer.from(text).toString('base64')
}
