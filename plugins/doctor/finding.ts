import type { Config } from '../../core/config/config.ts'
import type { Environment } from '../../core/config/environment.ts'
import type { Features } from '../../core/feature.ts'
import type { ServerState } from '../../core/supervisor/server-state.ts'

export const STATUSES = ['ok', 'warn', 'fail'] as const

/** The result of one check, in words for the operator. */
export interface Finding {
  subject: string
  status: typeof STATUSES[number]
  message: string
  /** The remedy; null if all is well. */
  remedy: string | null
  /** Lines that may be missing elsewhere, such as in the configuration of a proxy. */
  lines: readonly string[]
}

/** The input of all checks. */
export interface CheckInput {
  features: Features
  config: Config
  /** The variables from which the configuration was read. */
  settings: Environment
  /** State of the server that runs on the data directory; null if none does. */
  state: ServerState | null
  /** Recipient of a test mail; null for none. */
  mailTo: string | null
  /** True if all files are examined that rows name, and not only some. */
  isFull: boolean
}

export type DoctorCheck = (input: CheckInput) => Promise<Finding[]>

export const ok = (subject: string, message: string): Finding => ({ subject, status: 'ok', message, remedy: null, lines: [] })
export const warn = (subject: string, message: string, remedy: string, lines: readonly string[] = []): Finding =>
  ({ subject, status: 'warn', message, remedy, lines })
export const fail = (subject: string, message: string, remedy: string, lines: readonly string[] = []): Finding =>
  ({ subject, status: 'fail', message, remedy, lines })

/**
 * Returns an error's reason in one line. A connection that failed at several addresses has an error without a message.
 */
export function reasonOf (err: unknown): string {
  if (err instanceof AggregateError && err.errors.length > 0) return reasonOf(err.errors[0])
  if (!(err instanceof Error)) return String(err)
  const inner = err.cause instanceof Error && /^fetch failed$/.test(err.message) ? err.cause : err
  if (inner !== err) return reasonOf(inner)
  return (err.message || String(Reflect.get(err, 'code'))).split('\n', 1).join('')
}
