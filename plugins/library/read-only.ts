import { basename } from 'node:path'
import { type ApiError, conflict } from '../../core/errors.ts'
import type { LibraryRoot } from './roots.ts'

type ReadOnlyLibrary = Pick<LibraryRoot, 'name' | 'dir' | 'is_writable'>

/**
 * Describes why the files of a library cannot change: because of its setting, or because its disk is read-only. Names
 * only the last part of its folder, because only administrators see paths of the machine.
 */
export function describeReadOnly ({ name, dir, is_writable: isWritable }: ReadOnlyLibrary): string {
  const remedy = isWritable
    ? 'mount its disk writable (in Docker without ":ro")'
    : `set its writable to true, such as by libraries.${name}.writable in config.yml,`
  return `The library '${name}' is read-only; ${remedy} to change files in its folder '${basename(dir)}'`
}

export const libraryReadOnly = (root: ReadOnlyLibrary): ApiError => conflict(describeReadOnly(root))
