import type { TaskRun } from '../../tasks/definitions.ts'
import type { OlderDat, StoredDat } from './store-dat.ts'

/** The most entries of each kind in the report of a task. */
const NAMED_MAX = 500

interface LoadMeta {
  loaded_count: number
  loaded: (StoredDat & { file: string })[]
  /** DATs that were not stored, because a newer version is stored. */
  older: { file: string, problem: string }[]
  problem_count: number
  problems: { file: string, problem: string }[]
  /** ROMs that were compared with the DATs of their platforms. */
  compared: number
}

/** The report of a task that loads DATs. */
export interface LoadReport {
  readonly meta: LoadMeta
  addLoaded (file: string, dat: StoredDat): void
  addOlder (file: string, dat: OlderDat): void
  addProblem (file: string, problem: string): void
  /** Adds the entries of another report. */
  merge (other: LoadReport): void
  flush (): Promise<void>
}

/** @param write stores the report of the task */
export function createLoadReport (write: TaskRun['report'] = async () => {}): LoadReport {
  const meta: LoadMeta = { loaded_count: 0, loaded: [], older: [], problem_count: 0, problems: [], compared: 0 }
  const list = <T>(to: T[], entry: T) => { if (to.length < NAMED_MAX) to.push(entry) }
  return {
    meta,
    addLoaded (file, dat) {
      meta.loaded_count++
      list(meta.loaded, { file, ...dat })
    },
    addOlder (file, { version, storedVersion }) {
      list(meta.older, { file, problem: `version ${version} is older than the stored version ${storedVersion}; delete the stored DAT to load it` })
    },
    addProblem (file, problem) {
      meta.problem_count++
      list(meta.problems, { file, problem })
    },
    merge ({ meta: other }) {
      meta.loaded_count += other.loaded_count
      meta.problem_count += other.problem_count
      for (const dat of other.loaded) list(meta.loaded, dat)
      for (const dat of other.older) list(meta.older, dat)
      for (const problem of other.problems) list(meta.problems, problem)
    },
    flush: () => write({ ...meta })
  }
}
