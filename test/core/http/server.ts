import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cache, Logger } from '@svc/plugin-sdk'
import type { Test } from 'tap'
import { createHttpClient, type HttpClientOptions } from '../../../core/http/client.ts'

export interface LocalServer {
  /** Without a slash at the end. */
  readonly url: string
  readonly host: string
  readonly port: number
  /** Method and target of every request that arrived. */
  readonly requests: string[]
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

/** Starts a server on the loopback address, closed with the test. */
export async function startServer (t: Test, listener: Listener): Promise<LocalServer> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    listener(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, port, requests }
}

export async function readRequest (request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

export interface Line { fields: Record<string, unknown>, message: string }

export function createLog (): { log: Logger, lines: Line[] } {
  const lines: Line[] = []
  const write = (fields: object, message: string) => { lines.push({ fields: { ...fields }, message }) }
  return { lines, log: { debug: write, info: write, warn: write, error: write } }
}

/** Creates a client that may reach the loopback address and does not wait between two attempts. */
export function startClient (t: Test, options: Partial<HttpClientOptions> = {}) {
  const client = createHttpClient({
    name: 'demo',
    userAgent: 'Svc/1.2.3',
    log: createLog().log,
    allowPrivate: true,
    sleep: async () => {},
    ...options
  })
  t.teardown(() => client.close())
  return client
}

/** Creates a store that keeps values as JSON, as the real one does. */
export function createStore (): Cache & { values: Map<string, string> } {
  const values = new Map<string, string>()
  return {
    values,
    get: async (key) => JSON.parse(values.get(key) ?? 'null') as unknown,
    set: async (key, value) => { values.set(key, JSON.stringify(value)) },
    delete: async (key) => { values.delete(key) }
  }
}
