/** The kinds of files in a ROM's folder, in order of precedence. */
export const ROM_FILE_CATEGORIES = [
  'game', 'dlc', 'hack', 'manual', 'patch', 'update', 'mod', 'demo', 'translation', 'prototype', 'cheat', 'soundtrack',
  'screenshot'
] as const

export type RomFileCategory = typeof ROM_FILE_CATEGORIES[number]

/**
 * Returns the first category whose name, or name and `s`, is the name of one of the folders, ignoring case; else null.
 * Pass only the folders below the ROM's own. Other servers compare the whole path, but then a platform folder called
 * `demos`, or a game called `Patch`, would decide for every file in it.
 */
export function categoryOf (folders: readonly string[]): RomFileCategory | null {
  if (folders.length === 0) return null
  const names = new Set(folders.map((folder) => folder.toLowerCase()))
  return ROM_FILE_CATEGORIES.find((category) => names.has(category) || names.has(`${category}s`)) ?? null
}
