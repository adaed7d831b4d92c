import { formatOf } from '../../core/archives/formats.ts'
import { parseName } from '../library/names.ts'
import { KNOWN_PROVIDERS } from '../plugins/known-providers.ts'
import { type Feed, readFiles, readRoms } from './pages.ts'
import { type FileRow, type LicenseRow, type RomRow, selectLicenses } from './rows.ts'

/** A file that a client can install, and its ROM. */
export interface Package {
  file: FileRow
  rom: RomRow
  /** The license file, on consoles that have such files. */
  license: LicenseRow | null
}

export const isPackage = (fileName: string): boolean => fileName.toLowerCase().endsWith('.pkg')
const isGame = (fileName: string) => isPackage(fileName) || formatOf(fileName).kind !== 'plain'

/** `(igdb-12345)` looks like a serial, but is the id of a provider. */
const PROVIDERS = KNOWN_PROVIDERS.map(({ key }) => key).filter((key) => key.length === 4).join('|')
const SERIAL = new RegExp(`(?<![a-z\\d])(?!${PROVIDERS})[a-z]{4}-\\d{5}(?!\\d)`, 'i')
const FILE_ID_DIGITS = 9

/** Returns the content id that tells packages apart: from the serial in the name, else from the file's id. */
export function contentIdOf ({ id, file_name: name }: Pick<FileRow, 'id' | 'file_name'>): string {
  const serial = SERIAL.exec(name)?.[0].replace('-', '') ?? String(id).padStart(FILE_ID_DIGITS, '0')
  return `UP9644-${serial}_00-0000000000000000`
}

export const titleOf = (file: FileRow): string => parseName(file.file_name).fs_name_no_tags

/**
 * Yields the packages of one kind, page by page. Games are the files directly in a ROM's folder, including archives.
 * All other kinds are found by their category.
 */
export async function * readPackages (
  feed: Feed, contentType: string, hasLicenses: boolean
): AsyncGenerator<Package[]> {
  const [choice, isWanted] = contentType === 'game'
    ? [{ top_level: true } as const, isGame]
    : [{ category: contentType }, isPackage]
  for await (const roms of readRoms(feed, feed.platforms)) {
    const byId = new Map(roms.map((rom) => [rom.id, rom]))
    const licenses = hasLicenses ? await selectLicenses(feed.db, [...byId.keys()]) : null
    for await (const files of readFiles(feed.db, roms, choice)) {
      yield files.filter((file) => isWanted(file.file_name)).flatMap((file) => {
        const rom = byId.get(file.rom_id)
        return rom === undefined ? [] : [{ file, rom, license: licenses?.get(rom.id) ?? null }]
      })
    }
  }
}
