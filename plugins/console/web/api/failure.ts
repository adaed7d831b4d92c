import type { Messages } from '../i18n/en.ts'
import { isFields } from '../read-fields.ts'

/** The server names the reason of its own 413, so one without it is a proxy's. */
const TOO_LARGE = 413

/** True for the statuses with which proxies answer while the server restarts. */
export const isProxyFailure = (status: number): boolean => status >= 502 && status <= 504

/** A problem with one field of a request. */
export interface FieldProblem {
  /** The names that lead to the field, such as `['body', 'username']`. */
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** A request that failed. The status is 0 if no response came. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly status: number
  readonly fields: readonly FieldProblem[]

  constructor (status: number, message: string, fields: readonly FieldProblem[] = []) {
    super(message)
    this.status = status
    this.fields = fields
  }
}

function readField (item: unknown): FieldProblem[] {
  if (!isFields(item) || !Array.isArray(item.loc) || typeof item.msg !== 'string') return []
  return [{ path: item.loc.filter((part) => typeof part === 'string' || typeof part === 'number'), message: item.msg }]
}

/**
 * Reads the body of an error response: `{ detail: '…' }`, an object with a `message`, or a list of problems.
 *
 * @param fallback the message of a body that says nothing, such as that of a proxy
 */
export function readFailure (status: number, body: unknown, fallback: string): Failure {
  const detail = isFields(body) ? body.detail : undefined
  if (typeof detail === 'string') return new Failure(status, detail)
  if (isFields(detail) && typeof detail.message === 'string') return new Failure(status, detail.message)
  const fields = Array.isArray(detail) ? detail.flatMap(readField) : []
  return new Failure(status, fields.map(({ message }) => message).join('. ') || fallback, fields)
}

type Texts = Messages['errors']

/** Returns the message of a response without a reason: that of a proxy, or of the server's worker as it ends. */
export function describeStatus (status: number, { unreachable, tooLarge, status: other }: Texts): string {
  if (isProxyFailure(status)) return unreachable.title
  return status === TOO_LARGE ? tooLarge : other(status)
}

/** Returns any thrown value as a failure. */
export function toFailure (err: unknown): Failure {
  if (err instanceof Failure) return err
  return new Failure(0, err instanceof Error ? err.message : String(err))
}

/** True if a request was cancelled, which is no failure. */
export const isCancelled = (err: unknown): boolean => err instanceof Error && err.name === 'AbortError'
