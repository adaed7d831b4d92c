import { regionCode } from '@svc/plugin-sdk'
import { ID_MAX } from '../../core/typebox.ts'

/** The information about a game in a file or folder name. */
export interface ParsedName {
  fs_name_no_ext: string
  fs_name_no_tags: string
  /** The extension as written, without its first dot: `zip`, `tar.gz`; `''` if there is none. */
  fs_extension: string
  /** Full names, in their order in the file name. */
  regions: string[]
  languages: string[]
  revision: string | null
  version: string | null
  tags: string[]
  /** A Switch id of 14 or 16 digits or a PlayStation serial such as `SLUS-00594`; null if there is none. */
  serial: string | null
}

const REGIONS: readonly (readonly [code: string, name: string])[] = [
  ['A', 'Australia'],
  ['AS', 'Asia'],
  ['B', 'Brazil'],
  ['C', 'Canada'],
  ['CH', 'China'],
  ['E', 'Europe'],
  ['F', 'France'],
  ['FN', 'Finland'],
  ['G', 'Germany'],
  ['GR', 'Greece'],
  ['H', 'Holland'],
  ['HK', 'Hong Kong'],
  ['I', 'Italy'],
  ['J', 'Japan'],
  ['K', 'Korea'],
  ['NL', 'Netherlands'],
  ['NO', 'Norway'],
  ['PD', 'Public Domain'],
  ['R', 'Russia'],
  ['S', 'Spain'],
  ['SW', 'Sweden'],
  ['T', 'Taiwan'],
  ['U', 'USA'],
  ['UK', 'England'],
  ['UNK', 'Unknown'],
  ['UNL', 'Unlicensed'],
  ['W', 'World']
]

const LANGUAGES: readonly (readonly [code: string, name: string])[] = [
  ['Ar', 'Arabic'],
  ['Da', 'Danish'],
  ['De', 'German'],
  ['El', 'Greek'],
  ['En', 'English'],
  ['Es', 'Spanish'],
  ['Fi', 'Finnish'],
  ['Fr', 'French'],
  ['It', 'Italian'],
  ['Ja', 'Japanese'],
  ['Ko', 'Korean'],
  ['Nl', 'Dutch'],
  ['No', 'Norwegian'],
  ['Pl', 'Polish'],
  ['Pt', 'Portuguese'],
  ['Ru', 'Russian'],
  ['Sr', 'Serbian'],
  ['Sv', 'Swedish'],
  ['Zh', 'Chinese'],
  ['nolang', 'No Language']
]

const REGION_BY_CODE = new Map(REGIONS.map(([code, name]) => [code, name]))
const LANGUAGE_BY_CODE = new Map(LANGUAGES.map(([code, name]) => [code, name]))
const REGION_BY_WORD = byWord(REGIONS)
const LANGUAGE_BY_WORD = byWord(LANGUAGES)

// Every expression below takes linear time: no two neighbouring repetitions can match the same character.
const TAG_GROUP = /\(([^()]*)\)|\[([^[\]]*)\]/g
const VERSION_TAG = /^(?:version|ver|v)(?:[\s._-]+([^\s._-].*)|(\d.*))$/is
const REGION_TAG = /^reg[\s|-]+([^\s|-].*)$/is
const REVISION_TAG = /^rev[\s|-]+([^\s|-].*)$/is
const INTEGER_ID = /^\d{1,10}$/
/** Characters that need no escaping in a URL. Dots alone would lead out of its path. */
const TEXT_ID = /^(?!\.+$)[\w.~-]{1,64}$/
const EXTENSION_PART = /^[\p{L}\p{N}_]+$/u
const LOWER_CASE_PART = /^[a-z]+$/
// A folder called `S.T.A.L.K.E.R` or `Game v1.2` has no extension, one called `Game.m3u` has.
const FOLDER_EXTENSION = /^(?=\d*[a-z])[a-z\d]{1,8}$/
const SWITCH_PRODUCT_ID = /(?<![\da-f])0100[\da-f]{12}(?![\da-f])/i
const SWITCH_TITLE_ID = /(?<!\d)70\d{12}(?!\d)/
const OPL_SERIAL = /(?<![A-Z\d])([A-Z]{4})_(\d{3})\.(\d{2})\./i
const SONY_SERIAL = /(?<![A-Z\d])(?!IGDB|MOBY|SSFR|HLTB)[A-Z]{4}-\d{5}(?!\d)/
const CLOSING = new Map([[')', '('], [']', '[']])

const SORT_ARTICLE = /^(?:the|an?|le|la|les|el|los|las|il|lo|gli|der|die|das|het)\s+(?=\S)/
const COMPARED_ARTICLE = /^(?:the|a|and)\s+(?=\S)/
const SORT_DIGITS = 12
const MAX_SORT_KEY_LENGTH = 500

/**
 * Parses the extension, tags and serial of a name; any string is accepted. A folder has an extension only if its name
 * ends like one (lower case letters and digits, at most 8).
 */
export function parseName (fsName: string, { isFolder = false } = {}): ParsedName {
  const extension = isFolder ? folderExtension(fsName) : fileExtension(fsName)
  const withoutExtension = (extension === '' ? fsName : fsName.slice(0, -extension.length - 1)).trim()
  const stem = withoutExtension === '' ? fsName : withoutExtension
  return {
    fs_name_no_ext: stem,
    fs_name_no_tags: withoutTrailingTags(stem),
    fs_extension: extension,
    ...parseTags(fsName),
    serial: findSerial(fsName)
  }
}

/**
 * Returns each name without extension that `parseName` may give a file or folder of this name, whatever the case of its
 * letters.
 */
export function listStems (fsName: string): string[] {
  const parts = fsName.split('.')
  const beginnings = parts.map((_, place) => parts.slice(0, place + 1).join('.').trim())
  return [...new Set([...beginnings, fsName])].filter((stem) => stem !== '')
}

/** Returns the id in a tag such as `(igdb-1234)`: the first tag with the provider's word and an id of its type. */
export function findTaggedId (fsName: string, word: string, type: 'integer' | 'string'): number | string | null {
  const beginning = `${word}-`
  for (const [, round = ''] of fsName.matchAll(TAG_GROUP)) {
    const text = round.trim()
    if (!text.toLowerCase().startsWith(beginning)) continue
    const id = text.slice(beginning.length)
    if (type === 'integer' && INTEGER_ID.test(id) && Number(id) <= ID_MAX) return Number(id)
    if (type === 'string' && TEXT_ID.test(id)) return id
  }
  return null
}

/** Returns the codes of the region priority setting for region names. Skips regions without a code. */
export function regionCodes (regions: readonly string[]): string[] {
  return [...new Set(regions.flatMap((region) => regionCode(region) ?? []))]
}

/** Returns the sort key of lists: lower case, no leading article, numbers in numeric order. */
export function nameSortKey (name: string): string {
  const key = name.trim().toLowerCase().replace(SORT_ARTICLE, '')
    .replace(/\d+/g, (digits) => digits.padStart(SORT_DIGITS, '0'))
  return cut(key, MAX_SORT_KEY_LENGTH)
}

/** Returns the sort key of a ROM's siblings. */
export function sortComparator (name: string): string {
  return name.trim().toLowerCase().replace(COMPARED_ARTICLE, '').trim()
}

function byWord (table: readonly (readonly [code: string, name: string])[]): Map<string, string> {
  return new Map(table.flatMap(([code, name]) => [[code.toLowerCase(), name], [name.toLowerCase(), name]]))
}

function fileExtension (name: string): string {
  const parts = name.split('.')
  // A leading dot hides a file; the name follows it.
  const lowest = parts[0] === '' ? 2 : 1
  let first = parts.length - 1
  if (first < lowest || !EXTENSION_PART.test(parts[first] ?? '')) return ''
  while (first > lowest && LOWER_CASE_PART.test(parts[first - 1] ?? '')) first--
  return parts.slice(first).join('.')
}

function folderExtension (name: string): string {
  const dot = name.lastIndexOf('.')
  const extension = name.slice(dot + 1)
  return dot > 0 && FOLDER_EXTENSION.test(extension) ? extension : ''
}

/** Removes trailing tags. A name of nothing but tags stays unchanged, because a search needs some text. */
function withoutTrailingTags (stem: string): string {
  let end = stem.length
  for (;;) {
    const start = trailingGroupStart(stem, end)
    if (start === -1) break
    end = stem.slice(0, start).trimEnd().length
  }
  return end === 0 ? stem : stem.slice(0, end)
}

/** Returns the start of the bracketed group that ends at `end`; -1 if there is none or it is not balanced. */
function trailingGroupStart (text: string, end: number): number {
  const close = text.charAt(end - 1)
  const open = CLOSING.get(close)
  if (open === undefined) return -1
  let depth = 0
  for (let i = end - 1; i >= 0; i--) {
    const character = text.charAt(i)
    if (character === close) depth++
    else if (character === open && --depth === 0) return i
  }
  return -1
}

type ParsedTags = Pick<ParsedName, 'regions' | 'languages' | 'revision' | 'version' | 'tags'>

function parseTags (name: string): ParsedTags {
  const parsed: ParsedTags = {
    regions: [], languages: [], revision: null, version: null, tags: []
  }
  for (const [, round, square] of name.matchAll(TAG_GROUP)) {
    for (const part of (round ?? square ?? '').split(',')) {
      const tag = part.trim()
      if (tag !== '') addTag(parsed, tag)
    }
  }
  return parsed
}

function addTag (parsed: ParsedTags, tag: string): void {
  const word = tag.toLowerCase()
  const region = REGION_BY_CODE.get(tag)
  const language = LANGUAGE_BY_CODE.get(tag)
  // Exact case precedes: `Nl` is Dutch and `NL` the Netherlands. After that a region precedes a language.
  if (region !== undefined) return addOnce(parsed.regions, region)
  if (language !== undefined) return addOnce(parsed.languages, language)
  const regionWord = REGION_BY_WORD.get(word)
  if (regionWord !== undefined) return addOnce(parsed.regions, regionWord)
  const languageWord = LANGUAGE_BY_WORD.get(word)
  if (languageWord !== undefined) return addOnce(parsed.languages, languageWord)
  addPrefixedTag(parsed, tag)
}

function addPrefixedTag (parsed: ParsedTags, tag: string): void {
  const [, spacedVersion, version = spacedVersion] = VERSION_TAG.exec(tag) ?? []
  const region = REGION_TAG.exec(tag)?.[1]
  const revision = REVISION_TAG.exec(tag)?.[1]
  if (version !== undefined) parsed.version = version
  else if (region !== undefined) addOnce(parsed.regions, REGION_BY_WORD.get(region.toLowerCase()) ?? region)
  else if (revision !== undefined) parsed.revision = revision
  else addOnce(parsed.tags, tag)
}

function addOnce (list: string[], value: string): void {
  if (!list.includes(value)) list.push(value)
}

function findSerial (name: string): string | null {
  const switchId = SWITCH_PRODUCT_ID.exec(name) ?? SWITCH_TITLE_ID.exec(name)
  if (switchId !== null) return switchId[0].toUpperCase()
  const [, letters, major, minor] = OPL_SERIAL.exec(name) ?? []
  if (letters !== undefined) return `${letters.toUpperCase()}-${major ?? ''}${minor ?? ''}`
  return SONY_SERIAL.exec(name)?.[0] ?? null
}

/** Returns the first `length` characters, never half of a surrogate pair. */
export function cut (text: string, length: number): string {
  const head = text.slice(0, length)
  return text.length > length && /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head
}
