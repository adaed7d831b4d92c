import { type CoverGroup, type ProviderId, normalizeTitle } from '@svc/plugin-sdk'
import type { LeftOut } from './schemas.ts'

/** What a web worker asks the scan worker, which has the providers. */
export type Call =
  { kind: 'games', rom_id: number, term: string, by: 'name' | 'id' } |
  { kind: 'covers', term: string }

/** What is told of a game that a provider found. */
export interface FoundGame {
  id: ProviderId
  name: string
  slug: string
  summary: string
  min_age: number | null
  url_cover: string
}

/** Why a provider has no answer, and whether it is because of its credentials. */
export interface Failure extends LeftOut { isRefused: boolean }

/** What each provider said, in load order. */
export interface Answered<Found> {
  /** False when no provider could have been asked. */
  isEnabled: boolean
  answers: { key: string, found: Found[] }[]
  failures: Failure[]
}

export interface GamesAnswer extends Answered<FoundGame> {
  /** Pictures that providers of artwork have for a game, by its compared name. */
  artwork: { key: string, name: string, game: FoundGame }[]
}
export type CoversAnswer = Answered<CoverGroup>

/** The form in which names of games are compared. */
export const toComparedName = (name: string): string => normalizeTitle(name, { keepArticles: true })
