/** The folder of achievement badges within the artwork of a ROM. */
export const BADGE_FOLDER = 'retroachievements/badges'

const STEM = /(?:^|\/)(?<stem>[\w-]{1,100})\.\w+$/

/** Returns the name of a badge without its extension, which follows the content; null if there is no name. */
export const badgeStem = (url: string): string | null => STEM.exec(url)?.groups?.stem ?? null
