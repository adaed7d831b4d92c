import { STATUS_CODES } from 'node:http'
import type { FuzzRequest } from './requests.ts'
import type { Answer } from './transport.ts'
import { GIVE_UP_MS } from './transport.ts'

/** Longer than any request takes on a busy machine. */
export const ANSWER_MAX_MS = Number(process.env.SOAK_ANSWER_MS ?? 5_000)
/** Patterns of internals and secrets that no response may contain. */
const INSIDES = /\$argon2|postgres(ql)?:\/\/|\n {4}at \S+ ?\(|node_modules|node:internal|Failing row contains|violates \w+ constraint|-----BEGIN/

/** The response of searches, with 500, if no provider can search. */
const NOBODY = /^\{"detail":"No (?:SteamGridDB|metadata providers) enabled"\}$/

/** The operation whose 503 has a described body: the readiness of each part. */
const REPORT = 'getReadiness'

export interface Asked { request: FuzzRequest, isAdmin: boolean }

const isFine = ({ status, headers, text }: Answer) =>
  status < 500 || (status === 503 && headers['retry-after'] !== undefined) || (status === 500 && NOBODY.test(text))

function findForeignBody ({ status, text, headers }: Answer, { method, operationId }: FuzzRequest): string | null {
  if (status < 400 || method === 'HEAD' || operationId === REPORT) return null
  if (!/^application\/json/.test(headers['content-type'] ?? '')) return `an error of the type ${headers['content-type']}`
  return hasDetail(text) ? null : 'an error without detail'
}

function hasDetail (text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'detail' in value
  } catch {
    return false
  }
}

/** Returns the fault of a response. It may contain no secret, and folders only for administrators. */
export function findFault (
  answer: Answer, { request, isAdmin }: Asked, secrets: readonly string[], folders: readonly string[]
): string | null {
  const { status, text, ms } = answer
  if (ms >= GIVE_UP_MS) return 'no answer'
  if (status === 0) return 'a connection that was closed without an answer'
  if (!isFine(answer)) return `${status} ${STATUS_CODES[status] ?? ''}`
  if (ms > ANSWER_MAX_MS) return `an answer after ${Math.round(ms)} ms`
  const asked = `${request.url} ${request.body?.toString() ?? ''}`
  const secret = secrets.find((one) => text.includes(one) && !asked.includes(one))
  if (secret !== undefined) return `the secret ${secret}`
  const inside = INSIDES.exec(text)?.[0]
  if (inside !== undefined && !asked.includes(inside)) return `something of its inside: ${inside}`
  const folder = isAdmin ? undefined : folders.find((one) => text.includes(one))
  if (folder !== undefined) return `the folder ${folder}`
  return findForeignBody(answer, request)
}

/** Returns the fault of raw bytes from a connection, in which several responses may follow each other. */
export function findRawFault ({ text, ms }: { text: string, ms: number }): string | null {
  if (ms >= GIVE_UP_MS) return 'a connection that stays open'
  if (ms > ANSWER_MAX_MS) return `a connection that was open for ${Math.round(ms)} ms`
  for (const [head, status] of text.matchAll(/HTTP\/1\.1 (\d{3})[^]*?(?:\r\n\r\n|$)/g)) {
    if (Number(status) >= 500 && !(status === '503' && /\r\nretry-after:/i.test(head))) return head.slice(0, 200)
  }
  return INSIDES.exec(text)?.[0] ?? null
}

/** Describes a request so that a person can repeat it. */
export function describe ({ operationId, method, url, headers, body }: FuzzRequest): string {
  const { authorization: _hidden, ...rest } = headers
  return `${operationId}: ${method} ${url.slice(0, 500)} ${JSON.stringify(rest).slice(0, 500)} ${body?.toString('latin1').slice(0, 800) ?? ''}`
}
