import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../../errors.ts'

/** The installed packages by name, with the origin that npm noted: a range of versions or a path. */
export type Dependencies = Readonly<Record<string, string>>

/** Returns the folder of community plugins in the data directory. */
export const pluginsFolder = (dataDir: string): string => join(dataDir, 'plugins')

/** Creates the folder of community plugins for npm. @returns its path */
export function createPluginsFolder (dataDir: string): string {
  const folder = pluginsFolder(dataDir)
  const file = join(folder, 'package.json')
  mkdirSync(folder, { recursive: true })
  if (!existsSync(file)) {
    writeFileSync(file, `${JSON.stringify({ name: 'svc-plugins', private: true, dependencies: {} }, null, 2)}\n`)
  }
  return folder
}

/**
 * Returns the packages that a package.json depends on; none if there is no such file.
 *
 * @throws the error of reading it
 */
export function parseDependencies (file: string): Dependencies {
  if (!existsSync(file)) return {}
  const json = JSON.parse(readFileSync(file, 'utf8')) as { dependencies?: unknown } | null
  const dependencies = json?.dependencies
  return typeof dependencies === 'object' && dependencies !== null ? dependencies as Dependencies : {}
}

/**
 * Returns the packages that were installed in the folder of community plugins.
 *
 * @throws StartError if package.json cannot be read, such as an empty one after a full disk
 */
export function readDependencies (folder: string): Dependencies {
  const file = join(folder, 'package.json')
  try {
    return parseDependencies(file)
  } catch (err) {
    throw new StartError(`${file} cannot be read: ${(err as Error).message}. Correct or delete it.`, { cause: err })
  }
}

/** Returns what npm noted of the installed packages; the error of reading it if that fails. */
export function describeDependencies (dataDir: string): Dependencies | string {
  try {
    return readDependencies(pluginsFolder(dataDir))
  } catch (err) {
    // The server runs without these plugins, and each attempt to install plugins reports the file.
    return (err as Error).message
  }
}
