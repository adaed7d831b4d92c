import { findBestTitle, normalizeTitle, readNames } from '@svc/plugin-sdk'
import type { Game } from './api.ts'

const THRESHOLD = 0.75

export interface Candidate {
  game: Game
  /** How like its title is to the term, 0 to 1. */
  score: number
}

/**
 * The game with the title most like the term, or undefined. It is not final when a wider search may find a better
 * one.
 */
export function findGame (term: string, games: readonly Game[]): Candidate & { isFinal: boolean } | undefined {
  const gamesByTitle = indexTitles(games)
  const best = findBestTitle(term, [...gamesByTitle.keys()], { threshold: THRESHOLD })
  const game = best && gamesByTitle.get(best.title)
  if (best === undefined || game === undefined) return undefined
  return { game, score: best.score, isFinal: best.score === 1 || !isContinuation(term, best.title) }
}

/** The name of a game, then its alternative and localised names. */
export function listTitles (game: Game): string[] {
  return [game.name, ...readNames(game, 'alternative_names'), ...readNames(game, 'game_localizations')]
}

/** Main names come before all others, and of equal ones the lowest id: the original, not a later game of that name. */
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

/** Whether one title is the other and more words, such as "portable ops" and "portable ops plus". */
function isContinuation (term: string, title: string): boolean {
  const [shorter = '', longer = ''] = [normalizeTitle(term), normalizeTitle(title)].sort((a, b) => a.length - b.length)
  return longer.startsWith(`${shorter} `)
}
