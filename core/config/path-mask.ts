import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from './schema.ts'

type MaskedPaths = Pick<Config, 'library_dir' | 'libraries' | 'data_dir'>

/** Returns the path of a folder and, if the folder is a link, its real path. */
function namesOf (folder: string): string[] {
  try {
    return [...new Set([folder, realpathSync(folder)])]
  } catch {
    // A folder that does not exist has no real path.
    return [folder]
  }
}

/** Returns the root folders of the configured libraries. */
export const listRoots = (libraries: Config['libraries']): string[] => Object.values(libraries).map(({ path }) => resolve(path))

/**
 * Creates a function that replaces folders of this machine in texts by placeholders, because users other than the
 * operator read them.
 */
export function createPathMask (config: MaskedPaths): (text: string) => string {
  let cached: { libraries: MaskedPaths['libraries'], mask: (text: string) => string } | null = null
  return (text) => {
    const { libraries } = config
    if (cached?.libraries !== libraries) cached = { libraries, mask: createMask(config) }
    return cached.mask(text)
  }
}

function createMask ({ data_dir: data, library_dir: first, libraries }: MaskedPaths): (text: string) => string {
  const roots = [first, ...listRoots(libraries)]
  const names = new Map([
    ...namesOf(data).map((folder) => [folder, '<data>'] as const),
    ...roots.flatMap(namesOf).map((folder) => [folder, '<library>'] as const)
  ])
  // The library may be inside the data directory, so the longer name is replaced first.
  const alternatives = [...names.keys()].sort((a, b) => b.length - a.length)
    .map((folder) => folder.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
  const pattern = new RegExp(`(?:${alternatives.join('|')})(?![\\w-])`, 'g')
  return (text) => text.replaceAll(pattern, (folder) => names.get(folder) ?? folder)
}
