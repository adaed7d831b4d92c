import { isPackage } from '../packages.ts'
import { type Feed, readFiles, readRoms } from '../pages.ts'
import type { FileRow, RomRow } from '../rows.ts'
import { join } from '../text.ts'

const LABELS: Readonly<Record<string, string>> = { game: 'Game', dlc: 'DLC', update: 'Update', patch: 'Patch', demo: 'Demo' }
const TITLE_ID = /(?:CUSA|PPSA)\d{5}/i

const categoryOf = (file: FileRow) => file.category ?? 'game'

function labelOf (file: FileRow): string {
  const category = categoryOf(file)
  return LABELS[category] ?? category.charAt(0).toUpperCase() + category.slice(1)
}

const stemOf = ({ file_name: name }: FileRow) => name.slice(0, name.lastIndexOf('.'))

/** Forms of a package's name, from the shortest to one that is always unique. */
const NAMES: readonly ((rom: string, file: FileRow) => string)[] = [
  (rom, file) => `${rom} - ${labelOf(file)}`,
  (rom, file) => `${rom} - ${stemOf(file)}`,
  (rom, file) => `${rom} - ${labelOf(file)} - ${stemOf(file)}`,
  (rom, file) => `${rom} - ${stemOf(file)} (${file.id})`
]

/** Returns the name of each package of a ROM by file id. Each name has the first form that is unique in the ROM. */
function namePackages (rom: RomRow, files: readonly FileRow[]): Map<number, string> {
  const title = rom.name ?? rom.fs_name
  if (files.length === 1) return new Map(files.map((file) => [file.id, title]))
  const names = new Map<number, string>()
  for (const nameOf of NAMES) {
    for (const same of Map.groupBy(files, (file) => nameOf(title, file))) {
      const [name, [file, other]] = same
      if (file !== undefined && other === undefined && !names.has(file.id)) names.set(file.id, name)
    }
  }
  return names
}

const ROM_ID_DIGITS = 5

function titleIdOf (rom: RomRow, file: FileRow, files: readonly FileRow[]): string {
  const names = [rom.fs_name, rom.name ?? '', file.file_name, ...files.map((one) => one.file_name)]
  const found = names.map((name) => TITLE_ID.exec(name)?.[0]).find((id) => id !== undefined)
  return found?.toUpperCase() ?? `ROMM${String(rom.id).slice(-ROM_ID_DIGITS).padStart(ROM_ID_DIGITS, '0')}`
}

/** `MM-DD-YYYY` in UTC. */
function formatRelease (time: number | null): string | null {
  const [year, month, day] = time === null ? [] : new Date(time).toISOString().split('T', 1).join('').split('-')
  return year === undefined ? null : `${month}-${day}-${year}`
}

/** The name and the title id of a package. */
interface PackageTitle { name: string | undefined, title_id: string }

function toEntry ({ links }: Feed, rom: RomRow, file: FileRow, { name, title_id: titleId }: PackageTitle): string {
  const { path_cover_large: cover } = rom
  const item = {
    name: name ?? rom.name ?? rom.fs_name,
    size: file.file_size_bytes,
    title_id: titleId,
    region: rom.region,
    version: rom.revision,
    release: formatRelease(rom.first_release_date),
    min_fw: null,
    cover_url: cover === null ? null : links.picture(cover)
  }
  return `${JSON.stringify(links.file(file))}:${JSON.stringify(item)}`
}

/** Returns the packages of these ROMs, by ROM. */
async function findPackages (feed: Feed, roms: readonly RomRow[]): Promise<Map<number, FileRow[]>> {
  const packages = new Map<number, FileRow[]>(roms.map((rom) => [rom.id, []]))
  for await (const files of readFiles(feed.db, roms, { all: true })) {
    for (const file of files.filter((one) => isPackage(one.file_name))) packages.get(file.rom_id)?.push(file)
  }
  return packages
}

/**
 * Names derive from all packages of a ROM, also from those that are not listed, so a package has one name in every
 * feed.
 */
async function * toEntries (feed: Feed, contentType: string | undefined): AsyncGenerator<string[]> {
  for await (const roms of readRoms(feed, feed.platforms)) {
    const packages = await findPackages(feed, roms)
    yield roms.flatMap((rom) => {
      const files = packages.get(rom.id) ?? []
      const names = namePackages(rom, files)
      return files.filter((file) => contentType === undefined || categoryOf(file) === contentType)
        .map((file) =>
          toEntry(feed, rom, file, { name: names.get(file.id), title_id: titleIdOf(rom, file, files) }))
    })
  }
}

/** Writes the feed for FPKGi: an object whose keys are the addresses of packages. */
export async function * writeFpkgi (feed: Feed, contentType: string | undefined): AsyncGenerator<string> {
  yield '{"DATA":{'
  yield * join(toEntries(feed, contentType), ',')
  yield '}}'
}
