import type { Events } from '../../api/socket.ts'

type Found = Events['scan:scanning_rom']

/** A scan as this page follows it. */
export interface ScanState {
  readonly phase: 'idle' | 'running' | 'done' | 'failed'
  readonly platform: string
  readonly stats: Events['scan:done'] | null
  /** The newest games first; at most `SHOWN_MAX`. */
  readonly games: readonly Found[]
  readonly failure: string
}

export const IDLE: ScanState = { phase: 'idle', platform: '', stats: null, games: [], failure: '' }
/** More covers would push the progress out of sight. */
export const SHOWN_MAX = 48

export const begin = (): ScanState => ({ ...IDLE, phase: 'running' })
export const enterPlatform = (state: ScanState, platform: string): ScanState => ({ ...state, phase: 'running', platform })
export const count = (state: ScanState, stats: Events['scan:update_stats']): ScanState => ({ ...state, phase: 'running', stats })
export const finish = (state: ScanState, stats: Events['scan:done']): ScanState => ({ ...state, phase: 'done', stats })
export const fail = (state: ScanState, failure: string): ScanState => ({ ...state, phase: 'failed', failure })

/** Adds a game, or replaces one in its place, because each game is announced again when its cover is there. */
export function addGame (state: ScanState, game: Found): ScanState {
  const isKnown = state.games.some(({ id }) => id === game.id)
  if (isKnown) return { ...state, games: state.games.map((one) => one.id === game.id ? game : one) }
  return { ...state, games: [game, ...state.games].slice(0, SHOWN_MAX) }
}
