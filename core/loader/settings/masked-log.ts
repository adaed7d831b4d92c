import type { Logger } from '@svc/plugin-sdk'
import { type Mask, createMask } from '../../http/mask.ts'

/** The deepest level of objects that is logged. */
const DEPTH_MAX = 6
/** The most values of one line, because objects that name each other stand for any number of values. */
const VALUES_MAX = 1_000
/** The most characters of one text in a line. */
const TEXT_MAX = 10_000
/** Fields that the server itself writes; a plugin's field of that name could pass for it. */
const OWN_FIELDS = new Set(['level', 'time', 'pid', 'hostname', 'plugin', 'reqId', 'msg'])

/** One line that is being copied: its mask, and how many values it may still have. */
interface LineBudget { mask: Mask, remaining: number }

function maskText (text: string, { mask }: LineBudget): string {
  const masked = mask.text(text)
  return masked.length <= TEXT_MAX ? masked : `${masked.slice(0, TEXT_MAX)}…`
}

function maskError (err: Error, line: LineBudget, depth: number): Error {
  const masked = new Error(maskText(String(err.message), line))
  masked.name = String(err.name)
  if (err.cause !== undefined) masked.cause = maskValue(err.cause, line, depth + 1)
  if (err.stack !== undefined) masked.stack = maskText(String(err.stack), line)
  return masked
}

function maskValue (value: unknown, line: LineBudget, depth: number): unknown {
  if (typeof value === 'string') return maskText(value, line)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEPTH_MAX || line.remaining <= 0) return '…'
  if (value instanceof Error) return maskError(value, line, depth)
  if (Array.isArray(value)) return takeWithinBudget(value, line).map((each) => maskValue(each, line, depth + 1))
  return Object.fromEntries(takeWithinBudget(Object.entries(value), line)
    .map(([name, each]) => [name, maskValue(each, line, depth + 1)]))
}

function takeWithinBudget<Item> (items: readonly Item[], line: LineBudget): readonly Item[] {
  const taken = items.length <= line.remaining ? items : items.slice(0, Math.max(line.remaining, 0))
  line.remaining -= taken.length
  return taken
}

/** Creates a log that masks the plugin's secrets in everything that the plugin writes. */
export function createMaskedLog (log: Logger, secrets: readonly string[]): Logger {
  const mask = createMask(secrets)
  const write = (level: keyof Logger) => (fields: object, message: string) => {
    const line = { mask, remaining: VALUES_MAX }
    const allowed = Object.fromEntries(Object.entries(fields).filter(([name]) => !OWN_FIELDS.has(name)))
    log[level](maskValue(allowed, line, 0) as object, maskText(String(message), line))
  }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
