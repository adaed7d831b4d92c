/**
 * Returns the text in which searches find words: the name and the file name. One index of this text answers a search of
 * several words at once. A space separates the names, because no word contains one.
 *
 * @param table the alias of `roms`; none within an index
 */
export function searchedNames (table?: 'r' | 'n'): string {
  const prefix = table === undefined ? '' : `${table}.`
  return `coalesce(${prefix}name, '') || ' ' || ${prefix}fs_name`
}
