import type { Db } from '../../../core/database/db.ts'
import { toDatabaseJson } from '../../../core/database/json.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { SILENT_SECONDS } from '../../../core/jobs/heartbeat.ts'
import type { ScanProblem } from '../../matching/scan-types.ts'
import type { ScanReport } from '../progress/scan-progress.ts'
import { COUNTERS, type ScanStats } from '../schemas.ts'

/** A lease ends that is not renewed for the time after which a process counts as hung. */
const LEASE = `interval '${SILENT_SECONDS} seconds'`
/** The database ends an idle transaction of a lost process after this time, because its lock delays the next lease. */
const IDLE_MS = 8_000

/** A platform folder of one library. */
export interface PartFolder { library_id: number, folder: string }

/** A part of a scan before anybody leases it. */
export interface PlannedPart extends PartFolder {
  /** The number of its entries. */
  entries: number
  /** True if this part counts the platform, which several libraries may have. */
  counts_platform: boolean
}

/** Who leases parts: one run of one process for one task. */
export interface Holder { task: string, worker: string, token: string }

const FOLDERS = 'library_id int, folder text'
const REPORTS = 'stats jsonb, problems jsonb, problem_count int'
const OWN = 'p.task_id = $1 and p.token = $2'

/**
 * Stores the parts of a scan that has none, and keeps those that an earlier worker of the scan finished. Deletes parts
 * of ended scans, after which no worker can write for them any more.
 */
export async function storeParts (db: Db, task: string, planned: readonly PlannedPart[]): Promise<void> {
  const parts = toDatabaseJson(planned.map((part, position) => ({ ...part, position })))
  await inTransaction(db, async (tx) => {
    await tx.query(`delete from scan_parts p where task_id <> $1 or state <> 'done' and not exists (
      select from jsonb_to_recordset($2::jsonb) as n(${FOLDERS}) where (n.library_id, n.folder) = (p.library_id, p.folder))`, [task, parts])
    await tx.query(`insert into scan_parts (task_id, library_id, folder, position, entries, counts_platform)
      select $1, library_id, folder, position, entries, counts_platform
      from jsonb_to_recordset($2::jsonb) as n(${FOLDERS}, position int, entries int, counts_platform boolean)
      on conflict do nothing`, [task, parts])
  })
}

/** Deletes the parts of a task. Waits for running writes, and no worker can write for the parts any more. */
export async function deleteParts (db: Db, task: string): Promise<void> {
  await db.query('delete from scan_parts where task_id = $1', [task])
}

/** Deletes the parts of a library that are not done, except those of this run. */
export async function deleteOthersUnfinished (db: Db, { task, token }: Holder, libraryId: number): Promise<void> {
  await db.query(`delete from scan_parts where task_id = $1 and library_id = $3 and state <> 'done'
    and token is distinct from $2::uuid`, [task, token, libraryId])
}

const FREE = "(state = 'waiting' or state <> 'done' and (expires_at < now() or holder <> all($2)))"

export interface LeaseRequest {
  libraryIds: readonly number[]
  /** The ids of all live processes. */
  alive: readonly string[]
  /** True if the largest part is leased first, and not the next one in the order of the scan. */
  isLargestFirst: boolean
}

/** Leases a part that no live process has. Its former results do not count. @returns null if there is none */
export async function leasePart (db: Db, holder: Holder, request: LeaseRequest): Promise<PlannedPart | null> {
  const { libraryIds, alive, isLargestFirst } = request
  const { rows: [part] } = await db.query<PlannedPart>(`with next as (
      select library_id, folder from scan_parts where task_id = $1 and library_id = any($5::int[]) and ${FREE}
      order by ${isLargestFirst ? 'entries desc, ' : ''}position limit 1 for update skip locked)
    update scan_parts p set state = 'leased', holder = $3, token = $4::uuid, platform_id = null, stats = '{}', problems = '[]',
      problem_count = 0, expires_at = now() + ${LEASE}
    from next where p.task_id = $1 and (p.library_id, p.folder) = (next.library_id, next.folder)
    returning p.library_id, p.folder, p.entries, p.counts_platform`,
  [holder.task, alive, holder.worker, holder.token, libraryIds])
  return part ?? null
}

/** True if a part is free to lease. */
export async function hasFreePart (db: Db, task: string, alive: readonly string[]): Promise<boolean> {
  const { rowCount } = await db.query(`select from scan_parts where task_id = $1 and ${FREE} limit 1`, [task, alive])
  return rowCount === 1
}

/**
 * Locks parts until the transaction ends, so that nobody else leases them before.
 *
 * @returns false if the holder does not have all of them any more
 */
export async function lockParts (tx: Db, { task, token }: Holder, parts: readonly PartFolder[]): Promise<boolean> {
  // This lock allows the renewal of the lease.
  const { rowCount } = await tx.query(`select set_config('idle_in_transaction_session_timeout', '${IDLE_MS}', true)
    from scan_parts p join jsonb_to_recordset($3::jsonb) as h(${FOLDERS}) using (library_id, folder)
    where ${OWN} for key share of p`, [task, token, toDatabaseJson(parts)])
  return rowCount === parts.length
}

/**
 * Locks the task until the transaction ends, so that nobody else gets it before.
 *
 * @returns false if the process does not run the task any more
 */
export async function lockTask (tx: Db, { task, worker }: Holder): Promise<boolean> {
  const { rowCount } = await tx.query(`select set_config('idle_in_transaction_session_timeout', '${IDLE_MS}', true) from tasks
    where id = $1 and worker_id = $2 and status = 'started' for share`, [task, worker])
  return rowCount === 1
}

/** Stores that the folder of a part was read. @returns false if the holder does not have the part any more */
export async function storeRead (
  db: Db, { task, token }: Holder, { library_id: library, folder }: PartFolder, platformId: number | null
): Promise<boolean> {
  const { rowCount } = await db.query(`update scan_parts p set state = 'read', platform_id = $5
    where ${OWN} and (library_id, folder) = ($3, $4)`, [task, token, library, folder, platformId])
  return rowCount === 1
}

const REPORTED = 'stats = h.stats, problems = h.problems, problem_count = h.problem_count'

/** Stores that a part is done. @returns false if the holder does not have it any more */
export async function storeDone (
  db: Db, { task, token }: Holder, part: PartFolder & ScanReport
): Promise<boolean> {
  const { rowCount } = await db.query(`update scan_parts p set state = 'done', ${REPORTED}
    from jsonb_to_recordset($3::jsonb) as h(${FOLDERS}, ${REPORTS})
    where ${OWN} and (p.library_id, p.folder) = (h.library_id, h.folder)`, [task, token, toDatabaseJson([part])])
  return rowCount === 1
}

/**
 * Renews the leases of unfinished parts, and stores their totals so far.
 *
 * @param endsWithStop true if a stop of the task ends the leases
 * @returns false if the holder does not have all of them any more, or the task has ended
 */
export async function renewLeases (
  db: Db, { task, token }: Holder, parts: readonly (PartFolder & ScanReport)[], endsWithStop: boolean
): Promise<boolean> {
  const { rowCount } = await db.query(`update scan_parts p set ${REPORTED}, expires_at = now() + ${LEASE}
    from jsonb_to_recordset($3::jsonb) as h(${FOLDERS}, ${REPORTS}), tasks t
    where ${OWN} and (p.library_id, p.folder) = (h.library_id, h.folder)
      and t.id = p.task_id and t.status in ('queued', 'started') and not (t.cancel_requested and $4)`,
  [task, token, toDatabaseJson(parts), endsWithStop])
  return rowCount === parts.length
}

/** Ends the leases of parts, so that another worker may lease them at once. Stores their last totals. */
export async function releaseParts (
  db: Db, { task, token }: Holder, parts: readonly (PartFolder & ScanReport)[]
): Promise<void> {
  await db.query(`update scan_parts p set state = 'waiting', holder = null, token = null, expires_at = null, ${REPORTED}
    from jsonb_to_recordset($3::jsonb) as h(${FOLDERS}, ${REPORTS})
    where ${OWN} and (p.library_id, p.folder) = (h.library_id, h.folder)`, [task, token, toDatabaseJson(parts)])
}

/** The state of all parts of a scan. */
export interface PartSummary {
  /** The number of parts that are not done. */
  unfinished: number
  /** The number of them that other runs lease. */
  leased_by_others: number
  /** The libraries whose folders are all read. */
  read_libraries: number[]
  /** The platforms whose ROMs were read. */
  platform_ids: number[]
  /** The totals of the parts of other runs. */
  stats: ScanStats
  problem_count: number
}

const SUMS = COUNTERS.map((name) => `'${name}', coalesce(sum((stats ->> '${name}')::int) filter (where is_other), 0)`).join(', ')

/** Summarises the parts of a task. */
export async function summariseParts (db: Db, { task, token }: Holder): Promise<PartSummary> {
  const { rows: [summary] } = await db.query<PartSummary>(`with parts as (
      select *, token is distinct from $2::uuid as is_other from scan_parts where task_id = $1)
    select (count(*) filter (where state <> 'done'))::int as unfinished,
      (count(*) filter (where is_other and state in ('leased', 'read')))::int as leased_by_others,
      array(select library_id from parts group by 1 having bool_and(state in ('read', 'done'))) as read_libraries,
      coalesce(array_agg(distinct platform_id) filter (where platform_id is not null), '{}') as platform_ids,
      jsonb_build_object(${SUMS}) as stats, coalesce(sum(problem_count) filter (where is_other), 0)::int as problem_count
    from parts`, [task, token])
  if (summary === undefined) throw new TypeError('An aggregate has no row')
  return summary
}

/** The channel on which scan workers learn of free parts; the payload is the id of the task. */
export const WAKE_CHANNEL = 'svc_scan_parts'

/** Tells idle scan workers that parts of a scan may be free. */
export async function notifyWorkers (db: Db, task: string): Promise<void> {
  await db.query('select pg_notify($1, $2)', [WAKE_CHANNEL, task])
}

/** Returns the first problems of the parts of other runs. */
export async function selectProblems (db: Db, { task, token }: Holder, max: number): Promise<ScanProblem[]> {
  const { rows } = await db.query<{ problem: ScanProblem }>(`select e.problem from scan_parts
    cross join lateral jsonb_array_elements(problems) with ordinality as e(problem, n)
    where task_id = $1 and token is distinct from $2::uuid order by position, n limit $3`, [task, token, max])
  return rows.map(({ problem }) => problem)
}
