import { PLATFORMS } from '@svc/plugin-sdk'

const EXTENSION = /\.[^.\s]+$/
const TRAILING_TAG = /\s*(?:\([^()]*\)|\[[^[\]]*\])$/
const TRAILING_ARTICLE = /^([^,:]+), (the|an?|les?|la|der|die|das|el|los|las|il)(?=:|$)/
const LATIN_MARKS = /(?<=[a-z])\p{M}+/gu
const NO_LETTER = /[^\p{L}\p{N}\p{M}]/gu

const PLATFORM_NAMES = new Map(PLATFORMS.map(({ slug, launchbox_name: name }) => [slug, name ?? undefined]))

/** What LaunchBox calls a platform: its key in the dump and the name of its file and folders. */
export const platformName = (slug: string): string | undefined => PLATFORM_NAMES.get(slug)

/** A name without the bracketed groups at its end. */
export function cutTags (name: string): string {
  let rest = name.trim()
  for (let next = rest.replace(TRAILING_TAG, ''); next !== rest && next !== ''; next = rest.replace(TRAILING_TAG, '')) rest = next
  return rest
}

/** The names without extension that a file may be listed under, most specific first, lower case. */
export function listForms (fileName: string): string[] {
  const stem = fileName.trim().replace(EXTENSION, '').toLowerCase()
  return [...new Set([stem, cutTags(stem)])].filter((form) => form !== '')
}

/** A title as its key in the dump: ` - ` of a file name is the colon that it cannot have. */
export const toTitleKey = (title: string): string =>
  title.replaceAll('_', ' ').replaceAll(/ ?- /g, ': ').replaceAll(/\s+/g, ' ').trim().toLowerCase()

/** @example moveArticle('legend of x, the: sub') // 'the legend of x: sub' */
export const moveArticle = (key: string): string => key.replace(TRAILING_ARTICLE, '$2 $1')

/** The letters and digits of a title, without case and without the accents of Latin letters. */
export const foldTitle = (title: string): string =>
  title.normalize('NFKD').toLowerCase().normalize('NFKD').replaceAll(LATIN_MARKS, '').replaceAll(NO_LETTER, '')

/** A platform or title as it can stand in the name of a file or folder. */
export const toFileName = (title: string): string =>
  title.replaceAll(/[‘’]/g, "'").replaceAll(/[:'\\/|<>"?*]/g, '_')

/** What the names of media are compared by: titles lose the signs that no file name has, and Windows knows no case. */
export function toStemKey (title: string): string {
  return toFileName(title).toLowerCase().replaceAll(/[\s_]+/g, '_').replaceAll(/^[_.]+|[_.]+$/g, '')
}
