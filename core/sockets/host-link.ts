import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import { createServer, request as sendRequest, type RequestOptions } from 'node:https'
import type { ConnectionOptions, SecureContextOptions } from 'node:tls'
import { StartError } from '../errors.ts'

/**
 * Hosts pass requests to each other over TLS with a key that is derived from the secret key of the server (RFC 4279,
 * RFC 5489). Only a host with that key can connect, and nobody else can read, change or repeat a request. No
 * certificates are needed.
 */
const TLS: SecureContextOptions = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' }
const IDENTITY = 'svc'
/** The time for a handshake. A host that is off does not refuse connections. */
const CONNECT_MS = 3_000
/** More connections than that are closed at once, because peers without the key can also open them. */
const CONNECTIONS_MAX = 5_000

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Creates the server for requests from other hosts. */
export function createLinkServer (key: Uint8Array, handle: Handler): HttpServer {
  const server = createServer({
    ...TLS, handshakeTimeout: CONNECT_MS, pskCallback: (_socket, identity) => identity === IDENTITY ? key : null
  }, handle)
  server.maxConnections = CONNECTIONS_MAX
  // Requests only arrive after a handshake. A failed one closes its connection by itself.
  server.on('tlsClientError', (_err, socket) => { socket.destroy() })
  return server
}

/** Splits `host:port`; an IPv6 address has brackets. */
export function splitAddress (address: string): { host: string, port: number } {
  const { hostname, port } = new URL(`tcp://${address}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** A host and its key. `onUnreachable` is called if no connection could be opened, so before the request was sent. */
export interface Peer { address: string, key: Uint8Array, onUnreachable? (err: Error): void }

/** Sends a request to another host on a separate connection. */
export function sendToHost ({ address, key, onUnreachable }: Peer, options: RequestOptions) {
  const connection: ConnectionOptions = {
    ...TLS,
    pskCallback: () => ({ identity: IDENTITY, psk: key }),
    // Both sides prove that they know the key; there is no certificate with a name.
    checkServerIdentity: () => undefined
  }
  const request = sendRequest({ ...options, ...connection, ...splitAddress(address), agent: false })
  const timer = setTimeout(() => {
    request.destroy(new Error(`${address} did not accept a connection within ${CONNECT_MS / 1_000} seconds`))
  }, CONNECT_MS)
  const fail = (err: Error) => { onUnreachable?.(err) }
  const stop = () => {
    clearTimeout(timer)
    request.off('error', fail)
  }
  request.once('socket', (socket) => { socket.once('secureConnect', stop) }).once('error', fail).once('close', stop)
  return request
}

/** Returns the error for an internal address on which this host cannot listen. */
export const explainLinkError = (err: unknown, address: string) => new StartError(
  `SVC_INTERNAL_ADDRESS: this host cannot listen on ${address} (${(err as Error).message}). Set it to an address of this machine and ` +
  'a free port, or remove it if the server runs on one machine.', { cause: err })
