import type { Preferences, Rom } from '@svc/plugin-sdk'
import { type Fields, readText, toFieldsList, toPlainText, unique } from '@svc/plugin-sdk/readers'

/** Regions after the preferred ones: `ss` is the site's own, `cus` is made by fans. */
const DEFAULTS = ['us', 'wor', 'ss', 'eu', 'jp', 'cus']
const UNKNOWN = 'unk'
/**
 * The parent regions and their children, as `regionsListe.php` listed its 40 regions. A child without a text of its own
 * has its parent's text.
 */
const CHILDREN: readonly (readonly [parent: string, ...children: string[]])[] = [
  ['ame', 'br', 'ca', 'cl', 'pe', 'us'],
  ['asi', 'cn', 'jp', 'kr', 'tw'],
  ['eu', 'bg', 'cz', 'de', 'dk', 'fi', 'fr', 'gr', 'hu', 'it', 'nl', 'no', 'pl', 'pt', 'se', 'sk', 'sp', 'uk'],
  ['mor', 'il', 'kw', 'tr'],
  ['oce', 'au', 'nz']
]
const PARENTS = new Map(CHILDREN.flatMap(([parent, ...children]) => children.map((child) => [child, parent] as const)))

/** The preferences for the description of a game: codes, most wanted first. */
export interface Viewpoint {
  /** Regions of names and dates. */
  regions: readonly string[]
  /** Regions of artwork. */
  mediaRegions: readonly string[]
  languages: readonly string[]
}

/**
 * Creates the preferences. A ROM's own regions come first in names and dates, but in artwork only if the operator
 * prefers that.
 */
export function createViewpoint (rom: Pick<Rom, 'region_codes'> | undefined, { regions, languages }: Preferences): Viewpoint {
  const own = rom?.region_codes ?? []
  return {
    regions: unique([...withParents(own), ...withParents(regions), ...DEFAULTS, UNKNOWN]),
    mediaRegions: unique([...withParents(regions), ...withParents(own), ...DEFAULTS, UNKNOWN]),
    languages: languages.length > 0 ? languages : ['en']
  }
}

/** Lists each region, followed by its parent unless the parent is in the list anyway. */
function withParents (codes: readonly string[]): string[] {
  return codes.flatMap((code) => {
    const parent = PARENTS.get(code)
    return parent === undefined || codes.includes(parent) ? [code] : [code, parent]
  })
}

/** Returns the entries of the first of these regions that has any. */
export function ofRegion<Entry extends Fields> (entries: readonly Entry[], regions: readonly string[]): Entry[] {
  for (const region of regions) {
    const found = entries.filter((entry) => (readText(entry, 'region')?.toLowerCase() ?? UNKNOWN) === region)
    if (found.length > 0) return found
  }
  return []
}

/** Returns the texts in the first of these languages that has any. */
export function ofLanguage (value: unknown, languages: readonly string[]): string[] {
  for (const language of languages) {
    const found = toFieldsList(value).filter((entry) => readText(entry, 'langue')?.toLowerCase() === language)
    const texts = unique(found.map(readClean))
    if (texts.length > 0) return texts
  }
  return []
}

/** Returns the text of an entry, with decoded entities and normalized line ends. */
export function readClean (entry: Fields): string | undefined {
  return toPlainText((readText(entry, 'text') ?? '').replaceAll('\r\n', '\n')) || undefined
}
