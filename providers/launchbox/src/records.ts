import { type Fields, type XmlElement, xmlChildren, xmlText } from '@svc/plugin-sdk'

/** What is read of a game, by the names of the dump. */
const GAME_FIELDS: ReadonlySet<string> = new Set([
  'DatabaseID', 'Name', 'Platform', 'Overview', 'ReleaseDate', 'ReleaseYear', 'MaxPlayers', 'ReleaseType', 'Cooperative', 'VideoURL',
  'CommunityRating', 'CommunityRatingCount', 'WikipediaURL', 'ESRB', 'Genres', 'Developer', 'Publisher'
])

/** The texts of a record's children that hold something, by their names. */
export type Texts = Readonly<Record<string, string>>

export function readRecord (record: XmlElement): Texts {
  const texts = xmlChildren(record).map((child) => [child.name, xmlText(child)] as const)
  return Object.fromEntries(texts.filter(([, text]) => text !== ''))
}

/** Of a record, what is read of a game. */
export function toGameFields (texts: Texts): Fields {
  return Object.fromEntries(Object.entries(texts).filter(([name]) => GAME_FIELDS.has(name)))
}
