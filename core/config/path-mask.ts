import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from './schema.ts'

type MaskedPaths = Pick<Config, 'library_dir' | 'libraries' | 'data_dir'>

/** A folder as it is called, and where it lies when it is a link. */
function namesOf (folder: string): string[] {
  try {
    return [...new Set([folder, realpathSync(folder)])]
  } catch {
    // What is not there leads nowhere.
    return [folder]
  }
}

/** The root folders of libraries that are listed. */
export const listRoots = (libraries: Config['libraries']): string[] => Object.values(libraries).map(({ path }) => resolve(path))

/** Makes texts and paths fit for people who run no machine: folders of this one are named by what they hold. */
export function createPathMask (config: MaskedPaths): (text: string) => string {
  let made: { of: MaskedPaths['libraries'], mask: (text: string) => string } | null = null
  return (text) => {
    const { libraries } = config
    if (made?.of !== libraries) made = { of: libraries, mask: createMask(config) }
    return made.mask(text)
  }
}

function createMask ({ data_dir: data, library_dir: first, libraries }: MaskedPaths): (text: string) => string {
  const roots = [first, ...listRoots(libraries)]
  const names = new Map([
    ...namesOf(data).map((folder) => [folder, '<data>'] as const),
    ...roots.flatMap(namesOf).map((folder) => [folder, '<library>'] as const)
  ])
  // The library may lie in the data folder: the longer name goes first.
  const alternatives = [...names.keys()].sort((a, b) => b.length - a.length)
    .map((folder) => folder.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
  const pattern = new RegExp(`(?:${alternatives.join('|')})(?![\\w-])`, 'g')
  return (text) => text.replaceAll(pattern, (folder) => names.get(folder) ?? folder)
}
