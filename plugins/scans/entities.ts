import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import type { ScanProblem } from '../matching/scan-types.ts'
import { Task } from '../tasks/entities.ts'
import type { ScanStats } from './schemas.ts'

/** `read`: the files are stored, but some lookups or pictures of the ROMs are not. */
const PART_STATES = ['waiting', 'leased', 'read', 'done'] as const

/** A platform folder that the running library scan reads. A scan worker leases it for the time of its work. */
export const ScanPart = defineEntity({
  name: 'ScanPart',
  tableName: 'scan_parts',
  properties: {
    task: () => p.manyToOne(Task).primary().deleteRule('cascade').joinColumn('task_id'),
    library_id: p.integer().primary(),
    folder: columns.text().primary(),
    /** Its place in the order of the scan. */
    position: p.integer(),
    /** The number of entries when the scan was planned. */
    entries: p.integer(),
    /** True if this part counts the platform, which several libraries may have. */
    counts_platform: p.boolean(),
    state: p.enum(PART_STATES).default('waiting'),
    /** The process that has or had the lease. */
    holder: columns.text().nullable(),
    /** The fencing token of the lease. Each write of the part checks it, so that a former holder writes nothing. */
    token: p.uuid().nullable(),
    expires_at: columns.time().nullable(),
    /** Null until the folder was read, and for a folder that could not be read. */
    platform_id: p.integer().nullable(),
    stats: p.json<Partial<ScanStats>>().defaultRaw("'{}'::jsonb"),
    problems: p.json<ScanProblem[]>().defaultRaw("'[]'::jsonb"),
    problem_count: p.integer().default(0)
  }
})
export type ScanPart = InferEntity<typeof ScanPart>
