import { PLATFORMS, type PlatformFacts } from '@svc/plugin-sdk'
import { findBestTitle } from '@svc/plugin-sdk/titles'
import { FAMILY_NAMES } from '../platforms/families.ts'

const FAMILIES = FAMILY_NAMES.map(simplify)

/** Letters and digits alone, in lower case: `NeoGeo Pocket` and `Neo Geo Pocket` are equal. */
function simplify (text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
}

type NamesOf = (facts: PlatformFacts) => readonly (string | null)[]

/** Kinds of names, most reliable first. No-Intro and Redump give their DATs the names of libretro's folders. */
const KINDS: readonly NamesOf[] = [
  ({ libretro_slug: name }) => [name],
  ({ name }) => [name],
  ({ launchbox_name: name }) => [name],
  ({ slug, aliases }) => [slug, ...aliases]
]

function indexNames (namesOf: NamesOf): Map<string, string[]> {
  const index = new Map<string, string[]>()
  for (const facts of PLATFORMS) {
    for (const name of new Set(namesOf(facts).flatMap((one) => one === null ? [] : [simplify(one)]))) {
      index.set(name, [...index.get(name) ?? [], facts.slug])
    }
  }
  return index
}

let indexes: Map<string, string[]>[] | undefined

function readIndexes (): Map<string, string[]>[] {
  indexes ??= KINDS.map(indexNames)
  return indexes
}

function findName (name: string): string[] {
  const key = simplify(name)
  return readIndexes().map((index) => index.get(key) ?? []).find((slugs) => slugs.length > 0) ?? []
}

/** Removes the maker from a name, such as `Commodore` from `Commodore C64`. */
function withoutMaker (name: string): string {
  const [first = '', ...others] = name.split(' ')
  return others.length > 0 && FAMILIES.includes(simplify(first)) ? others.join(' ') : name
}

/** Returns names to try, longest first: `A - B - C` gives `A - B - C`, `A - B`, `B - C`, `A`, `B` and `C`. */
function listParts (name: string): string[] {
  const segments = name.split(/\s+-\s+/).filter((segment) => segment !== '')
  const parts: string[] = []
  for (let length = segments.length; length > 0; length--) {
    for (let start = 0; start + length <= segments.length; start++) parts.push(segments.slice(start, start + length).join(' - '))
  }
  return parts
}

/** Below this similarity, a name is more likely a different one than a typing error. */
const LIKENESS = 0.8

/** Returns the slugs of the platforms whose name, or other name, a text is or resembles most; none for another text. */
export function findSimilarSlugs (text: string): string[] {
  const exact = findName(text)
  if (exact.length > 0) return exact
  const names = readIndexes().flatMap((index) => [...index.keys()])
  const title = findBestTitle(simplify(text), names, { threshold: LIKENESS })?.title
  return title === undefined ? [] : findName(title)
}

/** Segments of DAT names that name no platform: `Redump - Sony - PlayStation - Datfile`. */
const SEGMENT_MAX = 8

/**
 * Returns the slugs of the platforms that the name of a DAT names: several when one DAT covers several platforms, such
 * as `Nintendo - Super Nintendo Entertainment System`; none for an unknown name.
 */
export function findPlatformSlugs (datName: string): string[] {
  const name = datName.replaceAll(/\([^()]*\)|\[[^[\]]*\]/g, ' ').replaceAll(/\s+/g, ' ').trim()
  const parts = listParts(name.split(/\s+-\s+/).slice(0, SEGMENT_MAX).join(' - '))
  for (const part of parts) {
    const plain = part.replace(/\s+(?:games|discs|disks|cartridges|roms)$/i, '')
    for (const candidate of [part, plain, withoutMaker(plain)]) {
      const slugs = findName(candidate)
      if (slugs.length > 0) return slugs
    }
  }
  return []
}
