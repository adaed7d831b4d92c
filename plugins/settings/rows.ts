import type { Db } from '../../core/database/db.ts'

/** The key of the advisory lock on config.yml: a number that nothing else uses. */
const CONFIG_LOCK = 7_364_140

/** Locks config.yml until the transaction ends, so that one process at a time changes it. */
export async function lockConfigFile (tx: Db): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [CONFIG_LOCK])
}
