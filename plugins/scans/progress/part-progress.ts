import type { ScanProblem } from '../../matching/scan-types.ts'
import type { ScanStats } from '../schemas.ts'
import { PROBLEMS_MAX, type Progress, type ScanReport } from './scan-progress.ts'

/** The progress of one part of a scan, or of a whole scan. */
export interface PartProgress extends Pick<Progress, 'add' | 'problem'> {
  /** Begins work that outlasts the reading of the folder. @returns the function that ends it, which may run again */
  begin (): () => void
}

/** The progress of one part, with its totals. */
export interface PartTotals extends PartProgress {
  totals (): ScanReport
  /** Resolves when no work of the part is running any more. */
  idle (): Promise<void>
}

/** Counts the totals of a part, which are also those of the scan. */
export function createPartTotals (whole: Pick<Progress, 'add' | 'problem'>): PartTotals {
  const stats: Partial<ScanStats> = {}
  const problems: ScanProblem[] = []
  let problemCount = 0
  let running = 0
  let idle = Promise.withResolvers<void>()

  return {
    add (amounts) {
      for (const [name, amount] of Object.entries(amounts)) {
        stats[name as keyof ScanStats] = (stats[name as keyof ScanStats] ?? 0) + amount
      }
      whole.add(amounts)
    },
    problem (problem) {
      problemCount++
      if (problems.length < PROBLEMS_MAX || problem.provider !== undefined) problems.push(problem)
      whole.problem(problem)
    },
    totals: () => ({ stats, problems, problem_count: problemCount }),
    begin () {
      let isRunning = true
      running++
      return () => {
        if (!isRunning) return
        isRunning = false
        running--
        if (running > 0) return
        idle.resolve()
        idle = Promise.withResolvers()
      }
    },
    idle: async () => { if (running > 0) await idle.promise }
  }
}
