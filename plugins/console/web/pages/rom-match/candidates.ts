import type { components } from '../../api/schema.d.ts'
import { readNumber, readText } from '../../read-fields.ts'

/** A game that a search found, which is no ROM and therefore has no id. */
export type SearchedGame = Omit<components['schemas']['SearchedGame'], 'id'>

/** A game at one provider. */
export interface CandidateId {
  provider: string
  id: string
  cover: string
}

/** A game that providers offer for a ROM. */
export interface Candidate {
  name: string
  summary: string
  year: number | null
  /** How alike its name and that of the file are, from 0 to 1. */
  score: number
  /** The address of a cover; empty if no provider has one. */
  cover: string
  ids: CandidateId[]
}

const ID = /^(.+)_id$/

/** Lists the providers that know a game, from the fields `<provider>_id` and `<provider>_url_cover`. */
function listIds (game: Readonly<Record<string, unknown>>): CandidateId[] {
  return Object.entries(game).flatMap(([field, value]) => {
    const provider = ID.exec(field)?.[1]
    if (provider === undefined || provider === 'platform' || (typeof value !== 'string' && typeof value !== 'number')) return []
    return [{ provider, id: String(value), cover: readText(game[`${provider}_url_cover`]) }]
  })
}

/** Returns the candidates of a search, the most alike first. Providers of pictures alone follow those of games. */
export function listCandidates (games: readonly SearchedGame[]): Candidate[] {
  return games
    .map((game): Candidate => {
      const ids = listIds(game)
      return {
        name: game.name,
        summary: game.summary,
        year: readNumber(game.year),
        score: game.score,
        cover: ids.find(({ cover }) => cover !== '')?.cover ?? '',
        ids
      }
    })
    .toSorted((a, b) => b.score - a.score)
}
