import { type Fields, type Preferences, type Rom, readText, toFieldsList, toPlainText, unique } from '@svc/plugin-sdk'

/** `ss` is what the site shows itself, `cus` is made by fans. */
const DEFAULTS = ['us', 'wor', 'ss', 'eu', 'jp', 'cus']
const UNKNOWN = 'unk'
/** The regions that the service files others under, by `regionsListe.php`; what has no text of its own has theirs. */
const CHILDREN: readonly (readonly [parent: string, ...children: string[]])[] = [
  ['ame', 'br', 'ca', 'cl', 'mex', 'pe', 'us'],
  ['asi', 'cn', 'hk', 'jp', 'kr', 'tw'],
  ['eu', 'bg', 'cz', 'de', 'dk', 'fi', 'fr', 'gr', 'hu', 'it', 'nl', 'no', 'pl', 'pt', 'ru', 'se', 'sk', 'sp', 'uk'],
  ['oce', 'au', 'nz']
]
const PARENTS = new Map(CHILDREN.flatMap(([parent, ...children]) => children.map((child) => [child, parent] as const)))

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
    regions: unique([...withParents(own), ...withParents(regions), ...DEFAULTS, UNKNOWN]),
    mediaRegions: unique([...withParents(regions), ...withParents(own), ...DEFAULTS, UNKNOWN]),
    languages: languages.length > 0 ? languages : ['en']
  }
}

/** Each region, and the one it belongs to right after it unless that is wanted anyway. */
function withParents (codes: readonly string[]): string[] {
  return codes.flatMap((code) => {
    const parent = PARENTS.get(code)
    return parent === undefined || codes.includes(parent) ? [code] : [code, parent]
  })
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
