import { realpathSync } from 'node:fs'
import type { Config } from './config.ts'

/** A folder as it is called, and where it lies when it is a link. */
function namesOf (folder: string): string[] {
  try {
    return [...new Set([folder, realpathSync(folder)])]
  } catch {
    // What is not there leads nowhere.
    return [folder]
  }
}

/** Makes texts and paths fit for people who run no machine: folders of this one are named by what they hold. */
export function createPlaceMask (config: Pick<Config, 'library_dir' | 'data_dir'>): (text: string) => string {
  const names = new Map([
    ...namesOf(config.data_dir).map((folder) => [folder, '<data>'] as const),
    ...namesOf(config.library_dir).map((folder) => [folder, '<library>'] as const)
  ])
  // The library may lie in the data folder: the longer name goes first.
  const alternatives = [...names.keys()].sort((a, b) => b.length - a.length)
    .map((folder) => folder.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
  const pattern = new RegExp(`(?:${alternatives.join('|')})(?![\\w-])`, 'g')
  return (text) => text.replaceAll(pattern, (folder) => names.get(folder) ?? folder)
}
