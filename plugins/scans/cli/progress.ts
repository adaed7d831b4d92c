import { isDeepStrictEqual } from 'node:util'
import progress from 'cli-progress'

const { Format, Presets, SingleBar } = progress

/** The state of a running scan. */
export interface ScanState {
  status: string
  error: string | null
  /** The platform that is being scanned; null before the first. */
  platform: string | null
  /** Counters by name, such as `scanned_roms`; empty before the first report. */
  stats: Readonly<Record<string, number>>
  /** The number of skipped files and failed lookups, and the first of them. */
  problem_count: number
  problems: readonly Problem[]
}

interface Problem { platform: string, path: string, reason: string }

/** Shows the progress of a scan. */
export interface ScanView {
  queued (taskId: string): void
  update (state: ScanState): void
  end (state: ScanState): void
}

type Write = (text: string) => void

/** A plain line of progress is written at most this often. */
const LINE_MS = 2_000

const count = (state: ScanState, name: string) => state.stats[name] ?? 0
const plural = (amount: number, noun: string) => `${amount} ${noun}${amount === 1 ? '' : 's'}`

/** Returns the result of a scan as a sentence. */
export function summarise (state: ScanState): string {
  const found = [
    `${plural(count(state, 'scanned_roms'), 'ROM')} on ${plural(count(state, 'scanned_platforms'), 'platform')}`,
    `${count(state, 'new_roms')} new`,
    `${count(state, 'identified_roms')} identified`
  ]
  if (count(state, 'failed_lookups') > 0) found.push(`${plural(count(state, 'failed_lookups'), 'lookup')} failed`)
  if (state.problem_count > 0) found.push(`${plural(state.problem_count, 'problem')}`)
  const reason = state.error === null ? '' : ` ${state.error.replace(/\.$/, '')};`
  return state.status === 'finished'
    ? `Scan finished: ${found.join(', ')}.`
    : `Scan ${state.status}:${reason} so far ${found.join(', ')}.`
}

/** The most problems that are shown to a person; the log of the server has all of them. */
const SHOWN_PROBLEMS = 20

/** Lists the skipped files and failed lookups with their reasons, one on each line. */
export function listProblems ({ problems, problem_count: total }: ScanState): string {
  const shown = problems.slice(0, SHOWN_PROBLEMS)
    .map(({ path, reason }) => `  ${path === '' ? '' : `${path}: `}${reason}\n`)
  const rest = total - shown.length
  return shown.join('') + (rest > 0 ? `  and ${rest} more; see the log of the server\n` : '')
}

/** Returns the current platform and its number of all platforms. */
function describePlatform (state: ScanState): string {
  const place = `${count(state, 'scanned_platforms')}/${count(state, 'total_platforms')}`
  return state.platform === null ? `platform ${place}` : `${state.platform} (${place})`
}

/** Writes each event as a line of JSON, under the name that the event has on the sockets of browsers. */
export function createJsonView (write: Write): ScanView {
  let shown: ScanState | null = null
  const line = (event: string, fields: object) => { write(`${JSON.stringify({ event, ...fields })}\n`) }

  function update (state: ScanState): void {
    if (state.platform !== null && state.platform !== shown?.platform) {
      line('scan:scanning_platform', { display_name: state.platform })
    }
    for (const problem of state.problems.slice(shown?.problems.length ?? 0)) line('problem', problem)
    if (!isDeepStrictEqual(state.stats, shown?.stats ?? {})) line('scan:update_stats', state.stats)
    shown = state
  }

  return {
    queued: (taskId) => { line('queued', { task_id: taskId }) },
    update,
    end (state) {
      update(state)
      const { status, error, stats, problem_count: count } = state
      if (status === 'failed') line('scan:done_ko', { error, ...stats, problem_count: count })
      else line('scan:done', { status, ...stats, problem_count: count })
    }
  }
}

/** Writes plain lines for logs and pipes. */
export function createLineView (write: Write, now: () => number = Date.now): ScanView {
  let printedAt = -Infinity
  return {
    queued: (taskId) => { write(`Scan ${taskId} is queued.\n`) },
    update (state) {
      if (now() - printedAt < LINE_MS) return
      printedAt = now()
      write(`Scan ${state.status}: ${count(state, 'scanned_roms')}/${count(state, 'total_roms')} ROMs, ` +
        `${describePlatform(state)}, ${count(state, 'identified_roms')} identified.\n`)
    },
    end: (state) => { write(`${summarise(state)}\n${listProblems(state)}`) }
  }
}

const formatSeconds = (seconds: number) =>
  Number.isFinite(seconds) ? Format.TimeFormat(Math.round(seconds), { autopadding: false }, 1) : '?'

/** Shows a progress bar for a person at a terminal. */
export function createBarView (write: Write): ScanView {
  const bar = new SingleBar({
    format: '{platform} [{bar}] {value}/{total} ROMs, {identified} identified, {rate}/s, {left} left',
    hideCursor: true,
    clearOnComplete: true
  }, Presets.legacy)
  const startedAt = performance.now()
  bar.start(0, 0, { platform: 'waiting', identified: 0, rate: 0, left: '?' })
  return {
    queued: () => {},
    update (state) {
      const scanned = count(state, 'scanned_roms')
      const rate = scanned / Math.max(0.001, (performance.now() - startedAt) / 1_000)
      bar.setTotal(count(state, 'total_roms'))
      bar.update(scanned, {
        platform: state.status === 'queued' ? 'waiting' : describePlatform(state),
        identified: count(state, 'identified_roms'),
        rate: Math.round(rate),
        left: formatSeconds((count(state, 'total_roms') - scanned) / rate)
      })
    },
    end (state) {
      bar.stop()
      write(`${summarise(state)}\n${listProblems(state)}`)
    }
  }
}
