import { resolve } from 'node:path'
import { getAt } from '../../core/config/setting-values.ts'
import type { LibraryRoot } from '../library/roots.ts'
import type { Change } from '../settings/content.ts'
import type { ChangeLibrary } from './schemas.ts'

const SECTION = 'libraries'

export const removeChange = ({ name }: LibraryRoot): Change => ({ path: [SECTION, name], value: undefined })

export const isListed = (content: unknown, name: string): boolean => getAt(content, [SECTION, name]) !== undefined

/** Returns changes for the keys of a library in config.yml; absent fields stay unchanged. */
export function toChanges (name: string, { path, writable, watched, structure }: ChangeLibrary): Change[] {
  const at = (key: string) => [SECTION, name, key]
  return [
    ...(path === undefined ? [] : [{ path: at('path'), value: resolve(path) }]),
    ...(writable === undefined ? [] : [{ path: at('writable'), value: writable }]),
    ...(watched === undefined ? [] : [{ path: at('watched'), value: watched }]),
    ...(structure === undefined ? [] : [{ path: at('structure'), value: structure ?? undefined }])
  ]
}

/**
 * Returns all configured values of a library that is about to be listed, or renamed, in config.yml.
 *
 * @param isOwn true if the structure belongs to this library, not to all
 */
export function describe (root: LibraryRoot, isOwn: boolean): ChangeLibrary {
  const { default: structure } = root.filesystem.structure
  return {
    path: root.dir,
    ...(root.is_writable ? {} : { writable: false }),
    ...(root.is_watched ? {} : { watched: false }),
    ...(isOwn && structure !== undefined ? { structure } : {})
  }
}

/** Lists changes that add all unlisted libraries to the file, before one of them is changed. */
export function listUnnamed (content: unknown, roots: readonly LibraryRoot[]): Change[] {
  return roots.filter(({ name }) => !isListed(content, name))
    .flatMap((root) => toChanges(root.name, describe(root, false)))
}

/** True if the section gives the library a structure of its own. */
export const hasOwnStructure = (content: unknown, name: string): boolean =>
  getAt(content, [SECTION, name, 'structure']) !== undefined
