import { parseName } from '../../library/names.ts'
import type { AssetRow } from '../rows.ts'

type NamedAsset = Pick<AssetRow, 'user_id' | 'rom_id' | 'file_name'>

const gameKeyOf = (row: NamedAsset) => `${row.user_id}:${row.rom_id}`
const stemOf = (row: NamedAsset) => parseName(row.file_name).fs_name_no_ext

/** True if a screenshot of this name is the picture of a file of that name. */
export function isPictureOf (picture: string, fileName: string): boolean {
  const names = new Set([fileName, parseName(fileName).fs_name_no_ext])
  return names.has(picture) || names.has(parseName(picture).fs_name_no_ext)
}

/**
 * Finds the picture of a save or state: the newest screenshot of the same user and ROM with the same name, with or
 * without extension. A screenshot named after the whole file name takes precedence.
 *
 * @param screenshots newest first
 */
export function createThumbnails<Row extends NamedAsset> (screenshots: readonly Row[]): (of: NamedAsset) => Row | null {
  const newest = new Map<string, { row: Row, age: number }>()
  const keyOf = (row: NamedAsset, matching: 'name' | 'stem', name: string) => `${gameKeyOf(row)}:${matching}:${name}`
  screenshots.forEach((row, age) => {
    for (const key of [keyOf(row, 'name', row.file_name), keyOf(row, 'stem', stemOf(row))]) {
      if (!newest.has(key)) newest.set(key, { row, age })
    }
  })
  return (of) => {
    const exact = newest.get(keyOf(of, 'stem', of.file_name))
    if (exact !== undefined) return exact.row
    const stem = stemOf(of)
    const keys = [keyOf(of, 'name', of.file_name), keyOf(of, 'name', stem), keyOf(of, 'stem', stem)]
    return keys.flatMap((key) => newest.get(key) ?? []).sort((a, b) => a.age - b.age)[0]?.row ?? null
  }
}
