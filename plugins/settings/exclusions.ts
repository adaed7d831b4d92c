import type { Config } from '../../core/config/config.ts'
import { getAt } from '../../core/config/setting-values.ts'
import { EXCLUSIONS, type ExclusionList, type ExclusionType } from './schemas.ts'

/** Returns an entry in the form in which it is compared and stored. */
export function normalizeEntry ({ holds }: ExclusionList, entry: string): string {
  return holds === 'extensions' ? entry.trim().replace(/^\.+/, '').toLowerCase() : entry
}

/** Returns the entries that the operator added to a list. */
export const listOwn = (type: ExclusionType, content: unknown): readonly string[] =>
  (getAt(content, [...EXCLUSIONS[type].path]) ?? []) as readonly string[]

/** Returns all entries of a list: built-in and added. */
export function listExcluded (type: ExclusionType, config: Config): string[] {
  const list = EXCLUSIONS[type]
  const own = listOwn(type, config).map((entry) => normalizeEntry(list, entry))
  return [...new Set([...list.builtIn, ...own])].sort()
}
