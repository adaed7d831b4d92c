import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, type RequestOptions, createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Test } from 'tap'

/**
 * Starts a proxy that passes each request to the next host in turn, without stickiness. A host that refuses connections
 * is skipped, as a load balancer with a health check does.
 */
export async function startRoundRobin (t: Pick<Test, 'teardown'>, urls: readonly string[]) {
  const counts = urls.map(() => 0)
  let turn = 0

  /** Opens the request on the next host that accepts connections. */
  function open (
    request: IncomingMessage, index = turn++ % urls.length, attempts = urls.length
  ): Promise<ClientRequest> {
    const { hostname, port } = new URL(urls[index] ?? '')
    const options: RequestOptions = {
      hostname, port, agent: false, method: request.method, path: request.url, headers: request.headers
    }
    const sent = sendRequest(options)
    return new Promise((resolve, reject) => {
      const skip = (err: Error) => {
        if (attempts <= 1) reject(err)
        else open(request, (index + 1) % urls.length, attempts - 1).then(resolve, reject)
      }
      sent.once('error', skip)
      sent.once('socket', (socket) => {
        socket.once('connect', () => {
          counts[index] = (counts[index] ?? 0) + 1
          sent.off('error', skip)
          resolve(sent)
        })
      })
    })
  }

  const server = createServer((request, response) => {
    open(request).then((sent) => {
      sent.on('response', (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers)
        reply.on('error', () => { response.destroy() }).on('aborted', () => { response.destroy() })
        reply.pipe(response)
      }).on('error', () => { response.destroy() })
      response.once('close', () => { sent.destroy() })
      request.pipe(sent)
    }, () => { response.writeHead(503, { 'retry-after': '2' }).end() })
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {})
    open(request).then((sent) => {
      sent.on('upgrade', (reply, upstream, first) => {
        const lines = Object.entries(reply.headers).map(([name, value]) => `${name}: ${String(value)}`)
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
        socket.write(first)
        upstream.write(head)
        upstream.pipe(socket).pipe(upstream)
        upstream.on('error', () => {}).on('close', () => { socket.destroy() })
        socket.on('close', () => { upstream.destroy() })
      })
      sent.on('response', () => { socket.destroy() }).on('error', () => { socket.destroy() })
      sent.end()
    }, () => { socket.destroy() })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts }
}
