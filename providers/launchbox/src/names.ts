import { PLATFORMS } from '@svc/plugin-sdk'

const EXTENSION = /\.[^.\s]+$/
const TRAILING_TAG = /\s*(?:\([^()]*\)|\[[^[\]]*\])$/
const TRAILING_ARTICLE = /^([^,:]+), (the|an?|les?|la|der|die|das|el|los|las|il)(?=:|$)/
const LATIN_MARKS = /(?<=[a-z])\p{M}+/gu
const NO_LETTER = /[^\p{L}\p{N}\p{M}]/gu

const PLATFORM_NAMES = new Map(PLATFORMS.map(({ slug, launchbox_name: name }) => [slug, name ?? undefined]))

/** Returns LaunchBox's name of a platform: its key in the dump and the name of its file and folders. */
export const platformName = (slug: string): string | undefined => PLATFORM_NAMES.get(slug)

/** Removes the bracketed groups at the end of a name. */
export function cutTags (name: string): string {
  let rest = name.trim()
  for (let next = rest.replace(TRAILING_TAG, ''); next !== rest && next !== ''; next = rest.replace(TRAILING_TAG, '')) rest = next
  return rest
}

/** Lists the names without extension under which a file may be listed, most specific first, lower case. */
export function listForms (fileName: string): string[] {
  const stem = fileName.trim().replace(EXTENSION, '').toLowerCase()
  return [...new Set([stem, cutTags(stem)])].filter((form) => form !== '')
}

/**
 * Converts a title to its key in the dump. ` - ` in a file name stands for a colon, which file names cannot contain.
 */
export const toTitleKey = (title: string): string =>
  title.replaceAll('_', ' ').replaceAll(/ ?- /g, ': ').replaceAll(/\s+/g, ' ').trim().toLowerCase()

/** @example moveArticle('legend of x, the: sub') // 'the legend of x: sub' */
export const moveArticle = (key: string): string => key.replace(TRAILING_ARTICLE, '$2 $1')

/** Returns the letters and digits of a title, without case and without the accents of Latin letters. */
export const foldTitle = (title: string): string =>
  title.normalize('NFKD').toLowerCase().normalize('NFKD').replaceAll(LATIN_MARKS, '').replaceAll(NO_LETTER, '')

/** Converts a platform or title to a valid name of a file or folder. */
export const toFileName = (title: string): string =>
  title.replaceAll(/[‘’]/g, "'").replaceAll(/[:'\\/|<>"?*]/g, '_')

/**
 * Returns a comparison key for names of media. Titles lose characters that file names cannot contain, and Windows
 * ignores case.
 */
export function toStemKey (title: string): string {
  return toFileName(title).toLowerCase().replaceAll(/[\s_]+/g, '_').replaceAll(/^[_.]+|[_.]+$/g, '')
}
