import { statSync } from 'node:fs'
import { liveSections } from '../composition/config.ts'
import type { Config, ConfigFile } from './schema.ts'

const LIVE = Object.keys(liveSections) as (keyof typeof liveSections)[]

/** What tells one state of a file from another one; empty while there is none. */
function stampOf (file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs}`
}

/**
 * The configuration with sections that are those of the file as it is now, in whichever process. The rest is as it was
 * at the start, and everything is as it was while the file cannot be used. `{ ...config }` keeps a state of it.
 *
 * @param stamp of the file before `first` was read from it
 * @param readAnew throws when the file cannot be used
 */
function follow (first: Config, stamp: string, readAnew: () => Config): Config {
  const { path } = first.file
  let [current, seen] = [first, stamp]
  let problem: string | null = null

  function look (): Config {
    try {
      const now = stampOf(path)
      if (now === seen) return current
      seen = now
      current = readAnew()
      problem = null
    } catch (err) {
      problem = (err as Error).message
    }
    return current
  }

  const file: ConfigFile = { ...first.file, findProblem: () => { look(); return problem } }
  const live = { ...first, file: Object.freeze(file) }
  for (const key of LIVE) Object.defineProperty(live, key, { enumerable: true, get: () => look()[key] })
  return Object.freeze(live)
}

/** Reads a configuration and follows what becomes of its file. */
export function followConfig<T extends { config: Config }> (path: string, read: () => T): T {
  const stamp = stampOf(path)
  const loaded = read()
  return { ...loaded, config: follow(loaded.config, stamp, () => read().config) }
}
