import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { Test } from 'tap'

export const readFixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')

/** A fixture for 127.0.0.1 and localhost, valid for a hundred years: `openssl req -x509 -addext subjectAltName=…`. */
export const CERTIFICATE = readFixture('server.crt')
export const ACCOUNT = { username: 'svc', password: 'not-a-real-password' }

export interface Received {
  from: string
  to: string[]
  /** True if the connection was encrypted. */
  isSecure: boolean
  user: string
  mail: ParsedMail
}

export interface MailServer {
  port: number
  received: Received[]
}

function refusal (code: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode: code })
}

export interface ServerOptions {
  /** The value from the channel's configuration; default `starttls`. */
  security?: string
  /** The file name of the certificate; default `server.crt`. */
  certificate?: string
}

/**
 * Starts a mail server on the loopback address that requires the account. It refuses `refused@…` permanently and
 * `busy@…` temporarily, and rejects mails from `blocked@…` or about `spam`.
 */
export async function startMailServer (
  t: Test, { security = 'starttls', certificate = 'server.crt' }: ServerOptions = {}
): Promise<MailServer> {
  const received: Received[] = []
  const server = new SMTPServer({
    secure: security === 'tls',
    key: readFixture('server.key'),
    cert: readFixture(certificate),
    disabledCommands: security === 'none' ? ['STARTTLS'] : [],
    allowInsecureAuth: security === 'none',
    disableReverseLookup: true,
    closeTimeout: 100,
    onAuth ({ username, password }, _session, done) {
      if (username === ACCOUNT.username && password === ACCOUNT.password) return done(null, { user: username })
      done(refusal(535, `Authentication failed for ${username}:${password}`))
    },
    onMailFrom ({ address }, _session, done) {
      done(address.startsWith('blocked@') ? refusal(550, 'Sender not allowed') : null)
    },
    onRcptTo ({ address }, _session, done) {
      if (address.startsWith('refused@')) return done(refusal(550, 'No such user here'))
      done(address.startsWith('busy@') ? refusal(450, 'Mailbox busy') : null)
    },
    onData (stream, { envelope, secure, user }, done) {
      stream.toArray().then((chunks: Buffer[]) => {
        const mail = parseMail(Buffer.concat(chunks).toString())
        if (/spam/.test(mail.headers.get('subject') ?? '')) return done(refusal(554, 'Looks like spam'))
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        const to = envelope.rcptTo.map(({ address }) => address)
        received.push({ from, to, isSecure: secure, user: String(user), mail })
        done()
      }, done)
    }
  })
  // A client that does not trust the certificate disconnects during the handshake.
  server.on('error', () => {})
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.teardown(() => new Promise<void>((resolve) => { server.close(resolve) }))
  return { port: (listener.address() as AddressInfo).port, received }
}

/** Starts a server that accepts connections and sends nothing, or only the given line. */
export async function startSilentServer (t: Test, line = '') {
  const sockets = new Set<{ destroy (): unknown }>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => { sockets.delete(socket) })
    socket.resume()
    socket.write(line)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { port: (server.address() as AddressInfo).port, sockets }
}

export interface ParsedMail {
  /** Names in lower case; values unfolded and decoded. */
  headers: Map<string, string>
  text: string
  html: string
  source: string
}

/** Parses the parts of RFC 5322 and RFC 2045 that the channel's mails use. */
export function parseMail (source: string): ParsedMail {
  const { headers, body } = splitPart(source)
  const boundary = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '')?.[1] ?? ''
  const parts = body.split(`--${boundary}`).slice(1, -1).map((part) => splitPart(part.replace(/^\r\n/, '')))
  const find = (type: string) => {
    const part = parts.find((one) => one.headers.get('content-type')?.startsWith(type))
    return part === undefined ? '' : decodePart(part).replaceAll('\r\n', '\n')
  }
  return { headers, text: find('text/plain'), html: find('text/html'), source }
}

function splitPart (source: string): { headers: Map<string, string>, body: string } {
  const end = source.indexOf('\r\n\r\n')
  const lines = source.slice(0, end).replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())]
  })
  return { headers: new Map(headers), body: source.slice(end + 4) }
}

/** Decodes words of RFC 2047. */
function decodeWords (value: string): string {
  const joined = value.replace(/(\?=) (?==\?)/g, '$1')
  return joined.replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_whole, encoding: string, word: string) =>
    encoding.toLowerCase() === 'b' ? Buffer.from(word, 'base64').toString() : decodeQuoted(word.replaceAll('_', ' ')))
}

function decodeQuoted (text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/g, (_whole, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}

function decodePart ({ headers, body }: { headers: Map<string, string>, body: string }): string {
  const encoding = headers.get('content-transfer-encoding')
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  return encoding === 'quoted-printable' ? decodeQuoted(body.replace(/=\r\n/g, '')) : body
}
