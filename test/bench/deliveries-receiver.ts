import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceiverReady { url: string }

/** Answers every POST with 204, except those to `/dead`, which it never answers. */
const server = createServer((request, response) => {
  request.resume()
  if (request.url !== '/dead') request.on('end', () => response.writeHead(204).end())
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const ready: ReceiverReady = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
process.send?.(ready)
process.once('disconnect', () => process.exit(0))
