import type { CoverGroup, ProviderId } from '@svc/plugin-sdk'
import { normalizeTitle } from '@svc/plugin-sdk/titles'
import type { SkippedProvider } from './schemas.ts'

/** A request of a web worker to the scan worker, which runs the providers. */
export type SearchCall =
  { kind: 'games', rom_id: number, term: string, by: 'name' | 'id' } |
  { kind: 'covers', term: string }

/** The fields of a game that a provider found. */
export interface GameCandidate {
  id: ProviderId
  name: string
  slug: string
  summary: string
  min_age: number | null
  year: number | null
  url_cover: string
}

/** The reason why a provider has no answer. */
export interface Failure extends SkippedProvider {
  /** False if the provider cannot search for this ROM. */
  isAsked: boolean
}

/** The answers of the providers, in load order. */
export interface ProviderAnswers<Found> {
  /** False if no provider was able to search. */
  isEnabled: boolean
  answers: { key: string, found: Found[] }[]
  failures: Failure[]
}

export interface GamesAnswer extends ProviderAnswers<GameCandidate> {
  /** Pictures that artwork providers have for a game, by its compared name. */
  artwork: { key: string, name: string, game: GameCandidate }[]
}
export type CoversAnswer = ProviderAnswers<CoverGroup>

/** Returns the form in which names of games are compared. */
export const toComparedName = (name: string): string => normalizeTitle(name, { keepArticles: true })
