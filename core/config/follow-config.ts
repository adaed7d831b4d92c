import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { explainDataDir } from './data-dir.ts'
import type { Config, ConfigFile } from './schema.ts'

/** The stamp of a file that was not read yet, or that could not be examined. */
const UNREAD = 'unread'

/** Returns a value that changes when a file or the rights on it change; empty if there is no file. */
export function stampOf (file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
}

/**
 * Returns the reason why a file cannot be used. The parser's message ends with lines of the file, which may contain
 * secrets.
 */
export const describeProblem = (err: unknown): string => (err as Error).message.replace(/:\n\n[\s\S]*$/, '')

/**
 * Returns the configuration with live sections, which follow the file in every process. The other sections stay as they
 * were at the start. While the file cannot be used, everything stays unchanged. `{ ...config }` is a snapshot.
 *
 * @param live the names of the live sections
 * @param stamp of the file before `first` was read from it
 * @param readAnew throws if the file cannot be used
 */
function follow (first: Config, live: readonly string[], stamp: string, readAnew: () => Config): Config {
  const { path } = first.file
  let [current, seen] = [first, stamp]
  let problem: string | null = null

  function reloadIfChanged (): Config {
    const former = seen
    seen = UNREAD
    try {
      const now = stampOf(path)
      seen = now
      if (now === former) return current
      current = readAnew()
      problem = null
    } catch (err) {
      problem = describeProblem(err)
    }
    return current
  }

  const file: ConfigFile = { ...first.file, findProblem: () => { reloadIfChanged(); return problem } }
  const followedConfig = { ...first, file: Object.freeze(file) }
  for (const name of live) {
    Object.defineProperty(
      followedConfig, name, { enumerable: true, get: () => Reflect.get(reloadIfChanged(), name) as unknown }
    )
  }
  return Object.freeze(followedConfig)
}

/** @throws StartError if this user may not look into the folder of the file, which is the data directory */
function stampAtStart (file: string): string {
  try {
    return stampOf(file)
  } catch (err) {
    throw explainDataDir(dirname(file), err)
  }
}

/**
 * Reads a configuration and follows the changes of its file in the live sections.
 *
 * @param startText the content of the file when the server started, for a later process; null reads the file
 */
export function followConfig<T extends { config: Config }> (
  path: string, live: readonly string[], read: (text: string | null) => T, startText: string | null
): T {
  const stamp = startText === null ? stampAtStart(path) : UNREAD
  const loaded = read(startText)
  return { ...loaded, config: follow(loaded.config, live, stamp, () => read(null).config) }
}
