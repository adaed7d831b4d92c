import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { getAt } from '../config/setting-values.ts'
import { explainPath } from '../config/plain-text.ts'
import type { PathKind } from '../config/setting.ts'
import { StartError } from '../errors.ts'

/** Returns why a path does not suit its setting, with the remedy; null if it does. */
function findPathProblem (path: string, kind: PathKind): string | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) {
    return kind === 'new-folder' ? null : `is missing. Set it to a ${kind} that exists, or remove it.`
  }
  if (kind === 'file' && !stats.isFile()) return 'is not a file. Set it to the path of a file, or remove it.'
  if (kind !== 'file' && !stats.isDirectory()) return 'is a file. Set it to the path of a folder, or remove it.'
  try {
    accessSync(path, constants.R_OK)
    return null
  } catch {
    return 'cannot be read. Give this user the right to read it, or remove the setting.'
  }
}

/**
 * Checks the files and folders that settings name, because a wrong path would fail only at its first use.
 *
 * @throws StartError naming each setting with a wrong path.
 */
export function checkNamedPaths (config: Config): void {
  const problems = config.file.listSettings().flatMap(({ path: keys, schema: { onDisk: kind } }) => {
    const given = getAt(config, keys)
    if (kind === undefined || typeof given !== 'string' || given === '') return []
    const name = keys.join('.')
    const source = config.file.fixed.get(name) ?? `${name} in ${config.file.path}`
    const misread = explainPath(given)
    if (misread !== null) return [`${source}: ${given} ${misread}`]
    const problem = findPathProblem(resolve(given), kind as PathKind)
    return problem === null ? [] : [`${source}: ${resolve(given)} ${problem}`]
  })
  if (problems.length > 0) throw new StartError(problems.join('\n'))
}
