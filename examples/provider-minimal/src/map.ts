import { type Match, ServiceDownError, type Static, Type } from '@svc/plugin-sdk'

/** The record as it is kept and shown as `minimal_metadata`. */
export const MetadataSchema = Type.Object({
  genres: Type.Array(Type.String()),
  released: Type.Optional(Type.String({ description: 'YYYY-MM-DD' }))
})
export type Metadata = Static<typeof MetadataSchema>

export interface Game extends Metadata {
  id: number
  title: string
  summary?: string
  cover?: string
}

/**
 * The games of an answer; entries without an id or a title are left out.
 *
 * @throws ServiceDownError when the answer is no list of games.
 */
export function readGames (answer: unknown): Game[] {
  const games = field(answer, 'games')
  if (!Array.isArray(games)) throw new ServiceDownError('the answer has no list "games"; is baseUrl right?')
  return games.map(readGame).filter((game) => game !== null)
}

/** One game of an answer, or null when it has no id or no title. Fields of the wrong type count as absent. */
export function readGame (record: unknown): Game | null {
  const id = field(record, 'id')
  const title = text(record, 'title')
  if (!Number.isSafeInteger(id) || title === undefined) return null
  const genres = field(record, 'genres')
  const game: Game = { id: Number(id), title, genres: Array.isArray(genres) ? genres.filter(isText) : [] }
  for (const name of ['summary', 'released', 'cover'] as const) {
    const value = text(record, name)
    if (value !== undefined) game[name] = value
  }
  return game
}

export function toMatch ({ id, title, summary, cover, ...metadata }: Game): Match<Metadata> {
  const match: Match<Metadata> = { id, name: title, genres: metadata.genres, metadata }
  const released = Date.parse(metadata.released ?? '')
  if (summary !== undefined) match.summary = summary
  if (!Number.isNaN(released)) match.first_release_date = released
  if (cover?.startsWith('https://')) match.media = [{ kind: 'cover', url: cover }]
  return match
}

function field (record: unknown, name: string): unknown {
  return typeof record === 'object' && record !== null ? Reflect.get(record, name) : undefined
}

function text (record: unknown, name: string): string | undefined {
  const value = field(record, name)
  return isText(value) ? value : undefined
}

function isText (value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
