import { createHmac, timingSafeEqual } from 'node:crypto'
import { type IncomingMessage, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A notification has at most 255 characters of title, 1,000 of body and 4,096 of data. */
const BODY_MAX_BYTES = 64 * 1024

const { SVC_WEBHOOK_SECRET: secret = '', PORT: port = '8090' } = process.env
if (secret === '') throw new Error('Set SVC_WEBHOOK_SECRET to the secret of the channel')

/** True if the signature matches the exact bytes, because the same JSON in another notation has another signature. */
function isSigned (body: Buffer, signature: string): boolean {
  const digest = createHmac('sha256', secret).update(body).digest('hex')
  const expected = Buffer.from(`sha256=${digest}`)
  const given = Buffer.from(signature)
  // A comparison that stops at the first difference would show a forger how many characters match.
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Reads the body; returns null when it is longer than any notification. */
async function readBody (request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  // The connection of a too long body stays open, because the response must still arrive.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false })
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > BODY_MAX_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * @returns the status of the response; 2xx is a delivery, and the server retries after all other statuses except a
 * few 4xx
 */
async function receive (request: IncomingMessage): Promise<number> {
  if (request.method !== 'POST') return 405
  const body = await readBody(request)
  if (body === null) return 413
  if (!isSigned(body, String(request.headers['x-svc-signature']))) return 401
  const { level, title, url } = JSON.parse(body.toString()) as { level: string, title: string, url: string | null }
  console.log(`${level}: ${title}${url === null ? '' : ` (${url})`}`)
  return 204
}

const server = createServer((request, response) => {
  receive(request).then((status) => {
    response.writeHead(status, status === 413 ? { connection: 'close' } : {}).end()
  }, (err: unknown) => {
    console.error(err)
    response.writeHead(500).end()
  })
})
server.listen(Number(port), () => {
  console.log(`Listening on port ${(server.address() as AddressInfo).port}`)
})
