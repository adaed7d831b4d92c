import type { Fields } from '@svc/plugin-sdk/readers'
import { type XmlElement, xmlChildren, xmlText } from '@svc/plugin-sdk/xml'

/** The fields of a game that are used, by their names in the dump. */
const GAME_FIELDS: ReadonlySet<string> = new Set([
  'DatabaseID', 'Name', 'Platform', 'Overview', 'ReleaseDate', 'ReleaseYear', 'MaxPlayers', 'ReleaseType', 'Cooperative', 'VideoURL',
  'CommunityRating', 'CommunityRatingCount', 'WikipediaURL', 'ESRB', 'Genres', 'Developer', 'Publisher'
])

/** The non-empty texts of a record's children, by name. */
export type Texts = Readonly<Record<string, string>>

export function readRecord (record: XmlElement): Texts {
  const texts = xmlChildren(record).map((child) => [child.name, xmlText(child)] as const)
  return Object.fromEntries(texts.filter(([, text]) => text !== ''))
}

/** Selects the used fields of a game from a record. */
export function toGameFields (texts: Texts): Fields {
  return Object.fromEntries(Object.entries(texts).filter(([name]) => GAME_FIELDS.has(name)))
}
