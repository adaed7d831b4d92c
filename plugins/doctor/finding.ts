import type { Config } from '../../core/config/config.ts'
import type { Environment } from '../../core/config/environment.ts'
import type { ServerState } from '../../core/supervisor/server-state.ts'

export const STATUSES = ['ok', 'warn', 'fail'] as const

/** What was found out about one thing, in words for the owner of the server. */
export interface Finding {
  subject: string
  status: typeof STATUSES[number]
  message: string
  /** What to do; null when all is well. */
  remedy: string | null
  /** Lines that may be missing somewhere else, such as in the configuration of a proxy. */
  lines: readonly string[]
}

/** What there is to look at. */
export interface Patient {
  config: Config
  /** The variables that it was read from. */
  settings: Environment
  /** Of the server that runs on the data directory; null when none does. */
  state: ServerState | null
  /** Who is sent a mail; null for nobody. */
  mailTo: string | null
}

export type Examine = (patient: Patient) => Promise<Finding[]>

export const ok = (subject: string, message: string): Finding => ({ subject, status: 'ok', message, remedy: null, lines: [] })
export const warn = (subject: string, message: string, remedy: string, lines: readonly string[] = []): Finding =>
  ({ subject, status: 'warn', message, remedy, lines })
export const fail = (subject: string, message: string, remedy: string, lines: readonly string[] = []): Finding =>
  ({ subject, status: 'fail', message, remedy, lines })

/** What went wrong, in one line. A connection tried at several addresses fails with an error without words. */
export function reasonOf (err: unknown): string {
  if (err instanceof AggregateError && err.errors.length > 0) return reasonOf(err.errors[0])
  if (!(err instanceof Error)) return String(err)
  const inner = err.cause instanceof Error && /^fetch failed$/.test(err.message) ? err.cause : err
  if (inner !== err) return reasonOf(inner)
  return (err.message || String(Reflect.get(err, 'code'))).split('\n', 1).join('')
}
