import { ServiceDownError, Type } from '@svc/plugin-sdk'
import { type Fields, isFields, readDate, readId, readText, readTexts, toFieldsList } from '@svc/plugin-sdk/readers'

/** The record as stored and shown as `minimal_metadata`. */
export const MetadataSchema = Type.Object({ released: Type.Optional(Type.String({ description: 'YYYY-MM-DD' })) })

/** @throws ServiceDownError when the response is no list of games. */
export function readGames (answer: unknown) {
  if (!isFields(answer) || !Array.isArray(answer.games)) {
    throw new ServiceDownError('the answer has no list "games"; is baseUrl right?')
  }
  return toFieldsList(answer.games).map(readGame).filter((game) => game !== undefined)
}

/** Creates the match of one game, or undefined without an id or a title. Fields of the wrong type count as absent. */
export function readGame (answer: unknown) {
  const game: Fields = isFields(answer) ? answer : {}
  const id = readId(game, 'id')
  const name = readText(game, 'title')
  if (id === undefined || name === undefined) return undefined
  const cover = readText(game, 'cover')
  return {
    id,
    name,
    summary: readText(game, 'summary'),
    genres: readTexts(game, 'genres'),
    first_release_date: readDate(game, 'released')?.at,
    media: cover?.startsWith('https://') ? [{ kind: 'cover' as const, url: cover }] : [],
    metadata: { released: readText(game, 'released') }
  }
}
