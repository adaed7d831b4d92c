import { Agent, type IncomingHttpHeaders, request as sendRequest } from 'node:http'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { FuzzRequest } from './requests.ts'

/** Time limit for a response, or for the close of a connection, after which it counts as missing. */
export const GIVE_UP_MS = 60_000
const TEXT_MAX_BYTES = 2 ** 20

export interface Answer {
  /** 0 for a connection that was closed without a response. */
  status: number
  headers: IncomingHttpHeaders
  text: string
  ms: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 })

/** Returns the text of a body, which the server compresses if the request accepts it and the text is long. */
function readText (body: Buffer, encoding: string | undefined): string {
  try {
    if (encoding === 'br') return brotliDecompressSync(body).toString()
    return (encoding === 'gzip' ? gunzipSync(body) : body).toString()
  } catch {
    // Such as a body that was cut.
    return body.toString()
  }
}

/** Sends one request. @returns the response, a closed connection, or a timeout */
export function send (base: string, { method, url, headers, body }: FuzzRequest): Promise<Answer> {
  const since = performance.now()
  return new Promise((resolve) => {
    const end = (status: number, headers: IncomingHttpHeaders = {}, text = '') => {
      resolve({ status, headers, text, ms: performance.now() - since })
    }
    const request = sendRequest(base, { method, path: url, agent, headers: { ...headers, 'content-length': body?.length ?? 0 } }, (answer) => {
      const chunks: Buffer[] = []
      let length = 0
      answer.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length <= TEXT_MAX_BYTES) chunks.push(chunk)
      })
      answer.on('error', () => { end(0) }).on('end', () => {
        end(answer.statusCode ?? 0, answer.headers, readText(Buffer.concat(chunks), answer.headers['content-encoding']))
      })
    })
    request.on('error', () => { end(0) })
    request.setTimeout(GIVE_UP_MS, () => { request.destroy() })
    request.end(body ?? undefined)
  })
}

/** Writes raw bytes and ends the writing side. @returns all bytes received until the connection was closed */
export function sendRaw (base: string, bytes: Buffer): Promise<{ text: string, ms: number }> {
  const { hostname, port } = new URL(base)
  const since = performance.now()
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: hostname, port: Number(port) }, () => { socket.end(bytes) })
    socket.on('data', (chunk: Buffer) => { chunks.push(chunk) })
    socket.on('error', () => { /* reset: the connection closed, which is valid too */ })
    socket.setTimeout(GIVE_UP_MS, () => { socket.destroy() })
    socket.on('close', () => { resolve({ text: Buffer.concat(chunks).toString('latin1'), ms: performance.now() - since }) })
  })
}

export function closeConnections (): void {
  agent.destroy()
}
