import type { Config } from '../../config/config.ts'
import { NEW_PASSWORD_VARIABLE, isSystemVariable } from '../../config/environment.ts'

/** True for a setting of the outgoing mail, its password included. */
export const isMail = (variable: string) => variable.startsWith('SMTP_')

/** True for a setting of the server that plugins may share: the outgoing mail, and the base URL. */
export const isShared = (variable: string) => isMail(variable) || variable === 'SVC_BASE_URL'

const isOfServer = (variable: string, { file }: Config) =>
  variable === NEW_PASSWORD_VARIABLE || file.listSettings().some(({ env }) => env === variable)

const compact = (text: string) => text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')

/** True if consecutive words make up one of the names, with another word beside them. */
function containsName (words: readonly string[], names: readonly string[]): boolean {
  return words.some((_word, from) => words.some((_other, to) =>
    to >= from && to - from + 1 < words.length && names.includes(words.slice(from, to + 1).join(''))))
}

/** The prefixes of variables of bundled plugins, where they differ from the key. */
const BUILT_IN_NAMES: ReadonlyMap<string, string> = new Map([
  ['moby', 'MOBYGAMES'], ['ra', 'RETROACHIEVEMENTS'], ['sgdb', 'STEAMGRIDDB'], ['ss', 'SCREENSCRAPER']
])

/**
 * True if a plugin may name this variable: one that begins with its key, such as `DEMO_API_KEY` or `SVC_DEMO_URL`, the
 * address that people use, and for channels the outgoing mail. The name of a plugin opens none, because its author
 * chooses it freely. Variables of the server or the system are never a plugin's own.
 */
export function mayRead (kind: string, plugin: { key: string }, variable: string, config: Config): boolean {
  if (isShared(variable)) return kind === 'channel' || !isMail(variable)
  if (isOfServer(variable, config) || isSystemVariable(variable)) return false
  const words = variable.split('_')
  const ownWords = words[0] === 'SVC' ? words.slice(1) : words
  const name = BUILT_IN_NAMES.get(plugin.key)
  return startsWithName(ownWords, compact(plugin.key)) || (name !== undefined && containsName(words, [name]))
}

function startsWithName (words: readonly string[], name: string): boolean {
  return name !== '' && words.some((_word, last) => last < words.length - 1 && words.slice(0, last + 1).join('') === name)
}

/** The plugin that a name or a variable belongs to. */
export interface Owner { key: string, package: string, origin: 'built-in' | 'community' }

/** The plugin that each variable belongs to: the first in load order that names it. */
export function createVariableOwners () {
  const owners = new Map<string, Owner>()
  return {
    /**
     * The first variable that belongs to another plugin, and that plugin. Plugins of one key share their variables,
     * unless one of them comes with the server.
     */
    findForeign (plugin: Owner, variables: readonly string[]): { variable: string, owner: Owner } | undefined {
      return variables.flatMap((variable) => {
        const owner = owners.get(variable)
        const isOwn = owner === undefined || (owner.key === plugin.key && owner.origin === plugin.origin)
        return isOwn ? [] : [{ variable, owner }]
      })[0]
    },
    add (plugin: Owner, variables: readonly string[]): void {
      for (const variable of variables) if (!isShared(variable) && !owners.has(variable)) owners.set(variable, plugin)
    }
  }
}
