import type { Logger } from 'pino'
import type { Db } from '../../../core/database/db.ts'

/** The number of new rows before the first ANALYZE; each further one comes after four times as many. */
const FIRST_ROWS = 2_000
const GROWTH = 4
/** A tenth of the default sample takes a tenth of the time. PostgreSQL itself soon takes a complete one. */
const SMALL_SAMPLE = 'set local default_statistics_target = 10'
/** Covers only the columns by which a scan looks rows up: all columns with their indexes take eight times as long. */
const ANALYZE = 'analyze roms (id, platform_id, library_id, fs_name, sha1_hash), rom_files (rom_id, file_path, file_name)'
const SIZE = "select reltuples as rows from pg_class where oid = 'roms'::regclass"

/** The planner statistics of the tables that a scan fills. */
export interface TableStatistics {
  /** Counts added ROMs, and starts ANALYZE if most of the ROMs were added since the last one. */
  added (rows: number): void
  /** Resolves when no ANALYZE runs any more. */
  finish (): Promise<void>
}

/**
 * Keeps planner statistics current. PostgreSQL plans by the last ANALYZE of a table, and starts one by itself once a
 * minute at most. Until then it takes the tables of a first scan for empty, and reads all ROMs for each batch.
 */
export function createTableStatistics (db: Db, log: Pick<Logger, 'warn'>): TableStatistics {
  let total = 0
  let due = FIRST_ROWS
  let updating = Promise.resolve()

  async function updateStatistics (rows: number): Promise<void> {
    const { rows: [known] } = await db.query<{ rows: number }>(SIZE)
    if (known === undefined || known.rows >= rows) return
    await db.transact(async (tx) => {
      await tx.query(SMALL_SAMPLE)
      await tx.query(ANALYZE)
    })
  }

  return {
    added (rows) {
      total += rows
      if (total < due) return
      due = total * GROWTH
      const seen = total
      updating = updating.then(() => updateStatistics(seen))
        .catch((err: unknown) => { log.warn({ err }, 'the tables of ROMs could not be analysed') })
    },
    finish: () => updating
  }
}
