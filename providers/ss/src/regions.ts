import { type Fields, type Preferences, type Rom, readText, toFieldsList, toPlainText, unique } from '@svc/plugin-sdk'

/** `ss` is what the site shows itself, `cus` is made by fans. */
const DEFAULTS = ['us', 'wor', 'ss', 'eu', 'jp', 'cus']
const UNKNOWN = 'unk'

/** For whom a game is described: codes, most wanted first. */
export interface Viewpoint {
  /** Of names and dates. */
  regions: readonly string[]
  /** Of artwork. */
  mediaRegions: readonly string[]
  languages: readonly string[]
}

/** A ROM's own regions go first in names and dates, whatever the owner wants of artwork. */
export function createViewpoint (rom: Pick<Rom, 'region_codes'> | undefined, { regions, languages }: Preferences): Viewpoint {
  const own = rom?.region_codes ?? []
  return {
    regions: unique([...own, ...regions, ...DEFAULTS, UNKNOWN]),
    mediaRegions: unique([...regions, ...own, ...DEFAULTS, UNKNOWN]),
    languages: languages.length > 0 ? languages : ['en']
  }
}

/** The entries of the first of these regions that has any. */
export function ofRegion (entries: readonly Fields[], regions: readonly string[]): Fields[] {
  for (const region of regions) {
    const found = entries.filter((entry) => (readText(entry, 'region')?.toLowerCase() ?? UNKNOWN) === region)
    if (found.length > 0) return found
  }
  return []
}

/** The texts in the first of these languages that has any. */
export function ofLanguage (value: unknown, languages: readonly string[]): string[] {
  for (const language of languages) {
    const found = toFieldsList(value).filter((entry) => readText(entry, 'langue')?.toLowerCase() === language)
    const texts = unique(found.map(readClean))
    if (texts.length > 0) return texts
  }
  return []
}

/** The text of an entry, with its entities decoded and its lines as they are everywhere else. */
export function readClean (entry: Fields): string | undefined {
  return toPlainText((readText(entry, 'text') ?? '').replaceAll('\r\n', '\n')) || undefined
}
