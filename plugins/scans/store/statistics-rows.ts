import type pg from 'pg'
import type { Logger } from 'pino'

/** So many new rows are worth a look at them; after each, four times as many. */
const FIRST_ROWS = 2_000
const GROWTH = 4
/** What a scan looks rows up by: all columns with their indexes take eight times as long. */
const ANALYZE = 'analyze roms (id, platform_id, library_id, fs_name, sha1_hash), rom_files (rom_id, file_path, file_name)'
const SIZE = "select reltuples as rows from pg_class where oid = 'roms'::regclass"

/** What PostgreSQL knows of the tables that a scan fills. */
export interface TableStatistics {
  /** Has it look again when most of the ROMs came since it last did. */
  added (rows: number): void
  /** Resolves when it does not look any more. */
  finish (): Promise<void>
}

/**
 * PostgreSQL plans by what it last saw of a table, and looks by itself once a minute at most. Until then it takes the
 * ROMs of a first scan for none, and reads all of them for each batch.
 */
export function createTableStatistics (pool: pg.Pool, log: Pick<Logger, 'warn'>): TableStatistics {
  let total = 0
  let due = FIRST_ROWS
  let looking = Promise.resolve()

  async function look (rows: number): Promise<void> {
    const { rows: [known] } = await pool.query<{ rows: number }>(SIZE)
    if (known !== undefined && known.rows < rows) await pool.query(ANALYZE)
  }

  return {
    added (rows) {
      total += rows
      if (total < due) return
      due = total * GROWTH
      const seen = total
      looking = looking.then(() => look(seen))
        .catch((err: unknown) => { log.warn({ err }, 'the tables of ROMs could not be analysed') })
    },
    finish: () => looking
  }
}
