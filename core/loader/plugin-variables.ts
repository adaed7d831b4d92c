import { listSettings } from '../config/config.ts'
import { ConfigSchema } from '../config/schema.ts'
import { NEW_PASSWORD_VARIABLE, isSystemVariable } from '../config/environment.ts'

/** Settings of the outgoing mail, its password included. */
export const isMail = (variable: string) => variable.startsWith('SMTP_')

/** Settings of the server that plugins may share: the outgoing mail, and the address that people use. */
export const isShared = (variable: string) => isMail(variable) || variable === 'SVC_BASE_URL'

const SERVER_VARIABLES = new Set([
  ...listSettings(ConfigSchema).flatMap(({ env }) => env ?? []),
  NEW_PASSWORD_VARIABLE
])

const compact = (text: string) => text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')

/** Whether words that follow each other make up one of the names, with another word beside them. */
function containsName (words: readonly string[], names: readonly string[]): boolean {
  return words.some((_word, from) => words.some((_other, to) =>
    to >= from && to - from + 1 < words.length && names.includes(words.slice(from, to + 1).join(''))))
}

/**
 * Whether a plugin may name this variable: one that contains its key or its name, such as `DEMO_API_KEY` or
 * `SVC_DEMO_URL`, the address that people use, and for channels the outgoing mail. What the server or the system is
 * set by is never a plugin's own.
 */
export function mayRead (kind: string, plugin: { key: string, name: string }, variable: string): boolean {
  if (isShared(variable)) return kind === 'channel' || !isMail(variable)
  if (SERVER_VARIABLES.has(variable) || isSystemVariable(variable)) return false
  const names = [plugin.key, plugin.name].map(compact).filter((name) => name !== '')
  const words = variable.split('_')
  // Behind the server's own prefix nothing else may come first.
  if (words[0] === 'SVC') return names.some((name) => startsWithName(words.slice(1), name))
  return containsName(words, names)
}

function startsWithName (words: readonly string[], name: string): boolean {
  return words.some((_word, last) => last < words.length - 1 && words.slice(0, last + 1).join('') === name)
}
