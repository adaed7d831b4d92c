import { stripVTControlCharacters } from 'node:util'
import { maskText } from './mask.ts'
import { LOG_LEVELS, type LogEntry } from './schemas.ts'

/** The limit lets a line fit into one notification of the database, so that lines stay in order. */
const MESSAGE_MAX_BYTES = 6_000
const MODULE_MAX = 100
const CUT = ' […]'

/** Fields that every line has; all others describe its subject. */
const OWN_FIELDS = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg', 'err', 'plugin', 'reqId'])

/** Returns the level of a logger's number. The numbers are ten apart, from trace to fatal. */
const levelOf = (level: unknown): LogEntry['level'] =>
  typeof level === 'number' ? LOG_LEVELS[Math.min(Math.max(Math.floor(level / 10) - 2, 0), LOG_LEVELS.length - 1)] ?? 'INFO' : 'INFO'

const HOST_FIELD = 'hostname'

const toText = (value: unknown) => typeof value === 'string' ? value : JSON.stringify(value) ?? ''

/** Describes an error by its name and message. Only the log itself has the stack. */
function describeError (err: unknown): string[] {
  if (typeof err !== 'object' || err === null) return err === undefined ? [] : [toText(err)]
  const { type, message } = err as { type?: unknown, message?: unknown }
  return [[type, message].filter((part) => typeof part === 'string' && part !== '').join(': ')]
}

function toMessage (fields: Readonly<Record<string, unknown>>, hasHost: boolean): string {
  const others = Object.entries(fields).filter(([name]) => !OWN_FIELDS.has(name) || (hasHost && name === HOST_FIELD))
    .map(([name, value]) => `${name}=${toText(value)}`)
  const [text, ...error] = [fields.msg, ...describeError(fields.err)].map(toText)
  return [[text, ...error].filter((part) => part !== '' && part !== undefined).join(': '), ...others].join(' ')
}

/** Returns the text in a form that the database and its notifications accept. */
function toStorable (text: string): string {
  const clean = text.replaceAll('\0', '').toWellFormed()
  const bytes = Buffer.from(clean)
  if (bytes.length <= MESSAGE_MAX_BYTES) return clean
  // The incomplete bytes of a cut character decode to U+FFFD.
  return `${bytes.toString('utf8', 0, MESSAGE_MAX_BYTES).replace(/\uFFFD+$/, '')}${CUT}`
}

/**
 * Returns the wire form of a logger's line; null if the line cannot be parsed.
 *
 * @param hasHost true if the message names the host
 */
export function toLogView (line: string, hasHost = false): LogEntry | null {
  try {
    const fields = JSON.parse(line) as Record<string, unknown>
    const { time, level, plugin, name } = fields
    return {
      ts: typeof time === 'number' ? Math.trunc(time) : Date.now(),
      level: levelOf(level),
      module: toStorable(toText(plugin ?? name ?? 'svc').toLowerCase()).slice(0, MODULE_MAX).toWellFormed(),
      message: toStorable(maskText(stripVTControlCharacters(toMessage(fields, hasHost))))
    }
  } catch {
    return null
  }
}
