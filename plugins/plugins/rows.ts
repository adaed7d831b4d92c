import type { Queryable } from '../../core/database/db.ts'
import { ALIVE_WORKERS } from '../../core/jobs/workers.ts'

/** Selects the reasons why running hosts have other plugins than all hosts, each with the name of its host. */
export async function selectPluginProblems (database: Queryable): Promise<string[]> {
  const { rows } = await database.query<{ problem: string }>(`select distinct w.host_name || ': ' || w.plugins_problem as problem
    from ${ALIVE_WORKERS} where w.plugins_problem is not null order by 1`)
  return rows.map(({ problem }) => problem)
}
