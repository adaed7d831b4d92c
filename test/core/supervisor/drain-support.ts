import { once } from 'node:events'
import { type IncomingMessage, type Server, createServer, request as sendRequest } from 'node:http'
import { type AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** Starts a server that answers a complete upload, and downloads without end. */
export async function startServer (t: Test): Promise<{ server: Server, port: number }> {
  const server = createServer((request, response) => {
    if (request.method === 'GET') response.write('beginning')
    else request.resume().on('end', () => response.end('taken'))
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

export const closeOf = (server: Server) => () => new Promise<void>((resolve) => { server.close(() => { resolve() }) })

export function upload (port: number) {
  const request = sendRequest({ port, host: '127.0.0.1', method: 'POST', headers: { 'content-length': 8 } })
  request.write('half')
  const ended = once(request, 'response').then(([response]: unknown[]) => (response as IncomingMessage).statusCode, () => null)
  return { request, ended }
}
