import { listSettings } from '../config/config.ts'
import { ConfigSchema } from '../config/schema.ts'
import { NEW_PASSWORD_VARIABLE, isSystemVariable } from '../config/environment.ts'

/** True for a setting of the outgoing mail, its password included. */
export const isMail = (variable: string) => variable.startsWith('SMTP_')

/** True for a setting of the server that plugins may share: the outgoing mail, and the base URL. */
export const isShared = (variable: string) => isMail(variable) || variable === 'SVC_BASE_URL'

const SERVER_VARIABLES = new Set([
  ...listSettings(ConfigSchema).flatMap(({ env }) => env ?? []),
  NEW_PASSWORD_VARIABLE
])

const compact = (text: string) => text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')

/** True if consecutive words make up one of the names, with another word beside them. */
function containsName (words: readonly string[], names: readonly string[]): boolean {
  return words.some((_word, from) => words.some((_other, to) =>
    to >= from && to - from + 1 < words.length && names.includes(words.slice(from, to + 1).join(''))))
}

/**
 * True if a plugin may name this variable. Allowed are a variable that contains its key or name, such as `DEMO_API_KEY`
 * or `SVC_DEMO_URL`, the base URL, and the outgoing mail for channels. Variables of the server or the system are never
 * a plugin's own.
 */
export function mayRead (kind: string, plugin: { key: string, name: string }, variable: string): boolean {
  if (isShared(variable)) return kind === 'channel' || !isMail(variable)
  if (SERVER_VARIABLES.has(variable) || isSystemVariable(variable)) return false
  const names = [plugin.key, plugin.name].map(compact).filter((name) => name !== '')
  const words = variable.split('_')
  // After the server's own prefix the name must come first.
  if (words[0] === 'SVC') return names.some((name) => startsWithName(words.slice(1), name))
  return containsName(words, names)
}

function startsWithName (words: readonly string[], name: string): boolean {
  return words.some((_word, last) => last < words.length - 1 && words.slice(0, last + 1).join('') === name)
}
