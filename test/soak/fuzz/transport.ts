import { Agent, type IncomingHttpHeaders, request as sendRequest } from 'node:http'
import { connect } from 'node:net'
import type { FuzzRequest } from './requests.ts'

/** How long anybody waits for an answer, or for a connection to be closed, before it counts as none. */
export const GIVE_UP_MS = 60_000
const TEXT_MAX_BYTES = 2 ** 20

export interface Answer {
  /** 0 for a connection that was closed without one. */
  status: number
  headers: IncomingHttpHeaders
  text: string
  ms: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 })

/** Sends one request. @returns what came back, a closed connection and none at all included */
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
        end(answer.statusCode ?? 0, answer.headers, Buffer.concat(chunks).toString())
      })
    })
    request.on('error', () => { end(0) })
    request.setTimeout(GIVE_UP_MS, () => { request.destroy() })
    request.end(body ?? undefined)
  })
}

/** Writes bytes as they are and says that there are no more. @returns whatever came until the connection was closed */
export function sendRaw (base: string, bytes: Buffer): Promise<{ text: string, ms: number }> {
  const { hostname, port } = new URL(base)
  const since = performance.now()
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: hostname, port: Number(port) }, () => { socket.end(bytes) })
    socket.on('data', (chunk: Buffer) => { chunks.push(chunk) })
    socket.on('error', () => { /* reset: closed, which is an answer too */ })
    socket.setTimeout(GIVE_UP_MS, () => { socket.destroy() })
    socket.on('close', () => { resolve({ text: Buffer.concat(chunks).toString('latin1'), ms: performance.now() - since }) })
  })
}

export function closeConnections (): void {
  agent.destroy()
}
