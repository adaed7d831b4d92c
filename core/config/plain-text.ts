import { StartError } from '../errors.ts'
import type { Environment } from './environment.ts'
import type { Config, Setting } from './schema.ts'

const isQuoted = (text: string) => text.length > 1 && /^["']/.test(text) && text.at(-1) === text[0]

const endsWithBreak = (text: string) => /[\r\n]$/.test(text)

/** Returns why a path means something else than its author thinks, with the remedy; null if it does not. */
export function explainPath (path: string): string | null {
  if (path === '~' || path.startsWith('~/')) return "begins with '~', which only a shell replaces by the home folder. Write the whole path."
  if (isQuoted(path)) return 'is enclosed in quotation marks, which only a shell removes. Remove them.'
  return endsWithBreak(path) ? 'ends with a line break. Remove it.' : null
}

/**
 * Returns warnings of text variables with characters that a shell would have removed, such as the quotation marks of a
 * line in the file of `docker --env-file`.
 */
export function findAddedCharacters (environment: Environment, settings: readonly Setting[]): string[] {
  return settings.flatMap(({ env, schema }) => {
    const text = env === undefined ? undefined : environment[env]
    if (env === undefined || text === undefined || schema.type !== 'string') return []
    if (isQuoted(text)) return [`the value of ${env} includes the quotation marks around it; remove them`]
    return endsWithBreak(text) ? [`the value of ${env} includes the line break at its end; remove it`] : []
  })
}

/**
 * @param fixed the variable of each setting that has its value from one
 * @param file the config file
 * @throws StartError naming each library whose path means something else than its author thinks
 */
export function requirePlainPaths (
  { library_dir: dir, libraries }: Pick<Config, 'libraries'> & { library_dir?: string }, fixed: ReadonlyMap<string, string>, file: string
): void {
  const listed = Object.entries(libraries).map(([name, { path }]) => ({ setting: `libraries.${name}.path`, path }))
  const given = dir === undefined ? listed : [{ setting: 'library_dir', path: dir }, ...listed]
  const problems = given.flatMap(({ setting, path }) => {
    const problem = explainPath(path)
    return problem === null ? [] : [`${fixed.get(setting) ?? `${setting} in ${file}`}: ${path} ${problem}`]
  })
  if (problems.length > 0) throw new StartError(problems.join('\n'))
}
