import { isFields } from '../../read-fields.ts'
import type { components } from '../../api/schema.d.ts'
import type { Events } from '../../api/socket.ts'

type Task = components['schemas']['TaskStatus']
type Found = Omit<Events['scan:scanning_rom'], 'is_new' | 'is_identifying'>

/** The first reasons why files were skipped and lookups failed, and the number of all. */
export interface ScanProblems { readonly count: number, readonly reasons: readonly string[] }

/** A scan as this page follows it. */
export interface ScanState {
  /** The id of its task: empty while this page starts the scan, null for a scan that somebody else started. */
  readonly id: string | null
  readonly phase: 'idle' | 'running' | 'done' | 'failed'
  readonly platform: string
  readonly stats: Events['scan:done'] | null
  /** The newest games first; at most `SHOWN_MAX`. */
  readonly games: readonly Found[]
  readonly failure: string
  readonly problems: ScanProblems
}

/** The newest scan as its task reports it, and the games that are newer than its start. */
export interface StoredScan { readonly scan: ScanState, readonly games: readonly Found[] }

export const IDLE: ScanState = {
  id: null, phase: 'idle', platform: '', stats: null, games: [], failure: '', problems: { count: 0, reasons: [] }
}
/** More covers would push the progress out of sight. */
export const SHOWN_MAX = 48

export const begin = (): ScanState => ({ ...IDLE, id: '', phase: 'running' })
export const enterPlatform = (state: ScanState, platform: string): ScanState => ({ ...state, phase: 'running', platform })
export const count = (state: ScanState, stats: Events['scan:update_stats']): ScanState => ({ ...state, phase: 'running', stats })
export const finish = (state: ScanState, stats: Events['scan:done']): ScanState => ({ ...state, phase: 'done', stats })
export const fail = (state: ScanState, failure: string): ScanState => ({ ...state, phase: 'failed', failure })

/** Returns a problem as one line: its file, if it concerns one, and the reason. */
function toReason (problem: unknown): string {
  const { path = '', reason = '' } = isFields(problem) ? problem : {}
  return path === '' ? String(reason) : `${String(path)}: ${String(reason)}`
}

/** Finds the newest scan in a list of tasks. */
export const findScan = (tasks: readonly Task[]): Task | undefined => tasks.find(({ task_type: type }) => type === 'scan')

/** Returns a scan as far as its task reported it. */
export function readScan ({ task_id: id, status, meta }: Task): ScanState {
  const { scan_stats: stats, platform, problems, problem_count: count } = meta
  return {
    ...IDLE,
    id,
    phase: status === 'queued' || status === 'started' ? 'running' : 'done',
    platform: typeof platform === 'string' ? platform : '',
    stats: isFields(stats) ? stats as Events['scan:done'] : null,
    problems: { count: Number(count ?? 0), reasons: Array.isArray(problems) ? problems.map(toReason) : [] }
  }
}

/** Adds a game, or replaces one in its place, because each game is announced again when its cover is there. */
export function addGame (state: ScanState, game: Found): ScanState {
  const isKnown = state.games.some(({ id }) => id === game.id)
  if (isKnown) return { ...state, games: state.games.map((one) => one.id === game.id ? game : one) }
  return { ...state, games: [game, ...state.games].slice(0, SHOWN_MAX) }
}

/** True if the stored scan is the one that the page follows. An idle page follows a scan that runs. */
function isFollowed ({ id, phase }: ScanState, stored: ScanState): boolean {
  return id === null ? phase !== 'idle' || stored.phase === 'running' : id === stored.id
}

/** Adds what the server stored, because events of some games are not sent, and others are lost with a connection. */
export function catchUp (state: ScanState, { scan, games }: StoredScan): ScanState {
  if (!isFollowed(state, scan)) return state
  const { id, stats, platform, problems } = scan
  const phase = state.phase === 'done' || state.phase === 'failed' ? state.phase : scan.phase
  const reached = { ...state, id, phase, platform: platform || state.platform, stats: stats ?? state.stats, problems }
  return games.toReversed().reduce(addGame, reached)
}
