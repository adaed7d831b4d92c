import type { FastifyInstance } from 'fastify'
import type { ScanProblem } from '../../matching/scan-types.ts'
import { PROBLEMS_MAX, type Progress } from '../progress/scan-progress.ts'
import { type Holder, type PartSummary, selectProblems, summariseParts } from './part-rows.ts'

/** The totals and problems of the other workers at a scan, for the worker that leads it. */
export interface OtherReports {
  /** Adds them to the progress of the scan. @returns the state of all parts */
  read (): Promise<PartSummary>
}

export function createOtherReports (
  app: FastifyInstance, holder: Holder, progress: Pick<Progress, 'setOthers'>
): OtherReports {
  let count = 0
  let problems: ScanProblem[] = []
  return {
    async read () {
      const summary = await summariseParts(app.db, holder)
      if (summary.problem_count !== count) problems = await selectProblems(app.db, holder, PROBLEMS_MAX)
      count = summary.problem_count
      progress.setOthers({ stats: summary.stats, problems, problem_count: count })
      return summary
    }
  }
}
