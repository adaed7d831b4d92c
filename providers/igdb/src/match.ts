import type { LookupStep } from '@svc/plugin-sdk'
import { readNames } from '@svc/plugin-sdk/readers'
import { findBestTitle, isContinuation } from '@svc/plugin-sdk/titles'
import type { Game } from './api.ts'

const THRESHOLD = 0.75

export interface Candidate {
  game: Game
  /** The similarity of its title to the term, 0 to 1. */
  score: number
}

/**
 * Finds the game with the most similar title, or undefined. The result is not final when a wider search may find a
 * better one.
 */
export function findGame (
  term: string, games: readonly Game[], explain?: (step: LookupStep) => void
): Candidate & { isFinal: boolean } | undefined {
  const gamesByTitle = indexTitles(games)
  const best = findBestTitle(term, [...gamesByTitle.keys()], { threshold: THRESHOLD, explain })
  const game = best && gamesByTitle.get(best.title)
  if (best === undefined || game === undefined) return undefined
  return { game, score: best.score, isFinal: best.score === 1 || !isContinuation(term, best.title) }
}

/** Lists the name of a game, then its alternative and localised names. */
export function listTitles (game: Game): string[] {
  return [game.name, ...readNames(game, 'alternative_names'), ...readNames(game, 'game_localizations')]
}

/**
 * Indexes games by title. Main names win over all others, and the lowest id among equal ones, because it is the
 * original.
 */
function indexTitles (games: readonly Game[]): Map<string, Game> {
  const gamesByTitle = new Map<string, Game>()
  for (const game of games) {
    const known = gamesByTitle.get(game.name)
    if (known === undefined || game.id < known.id) gamesByTitle.set(game.name, game)
  }
  for (const game of games) {
    for (const title of listTitles(game)) {
      if (!gamesByTitle.has(title)) gamesByTitle.set(title, game)
    }
  }
  return gamesByTitle
}
