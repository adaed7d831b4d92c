/** Where the pictures of achievements are, in the folder of a ROM's artwork. */
export const BADGE_FOLDER = 'retroachievements/badges'

const STEM = /(?:^|\/)(?<stem>[\w-]{1,100})\.\w+$/

/** What a badge is called in its address, and as a file, whose extension follows the content; null for no name. */
export const badgeStem = (place: string): string | null => STEM.exec(place)?.groups?.stem ?? null
