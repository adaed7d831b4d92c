import { setTimeout as sleep } from 'node:timers/promises'
import type { Db, Queryable } from '../database/db.ts'

/** Advisory locks of this process's database session. They are released the moment the process dies. */
export interface Locks {
  /** True if this process has a duty that only one process may have: the first to claim it has it until it ends. */
  claim (duty: string): Promise<boolean>
  /** Runs work under a key that all processes can see while it runs. */
  runLocked<T> (key: string, work: () => Promise<T>): Promise<T>
  /** True if a live process runs the work of this key. */
  isLocked (key: string): Promise<boolean>
  /**
   * Runs work while no other process runs work of this key. The caller runs work of one key in sequence, because
   * all locks of a process belong to one database session.
   */
  runAlone<T> (key: string, work: () => Promise<T>): Promise<T>
}

const RETRY_MS = 200
/** First half of the advisory locks of duties. */
const DUTY_CLASS = 736_414
/** First half of the advisory locks of work in progress. */
const WORK_CLASS = 736_415
/** First half of the advisory locks of work that one process at a time may do. */
const ALONE_CLASS = 736_416

/** Takes an advisory lock unless another session holds it. @returns true if this session holds the lock */
export async function tryLock (session: Queryable, lockClass: number, key: string): Promise<boolean> {
  const { rows } = await session.query<{ locked: boolean }>(
    'select pg_try_advisory_lock($1, hashtext($2)) as locked', [lockClass, key])
  return rows[0]?.locked === true
}

/** @param app reads the locks of all processes, over other connections than the session's */
export function createLocks (session: Queryable, app: { readonly db: Db }, workerId: string): Locks {
  const duties = new Set<string>()
  return {
    async claim (duty) {
      if (duties.has(duty)) return true
      if (await tryLock(session, DUTY_CLASS, duty)) {
        duties.add(duty)
        // For people only: svc doctor shows which host has a duty.
        await session.query('update workers set duties = $2 where id = $1', [workerId, [...duties]])
      }
      return duties.has(duty)
    },
    async runLocked (key, work) {
      await session.query(`select pg_advisory_lock_shared(${WORK_CLASS}, hashtext($1))`, [key])
      try {
        return await work()
      } finally {
        await session.query(`select pg_advisory_unlock_shared(${WORK_CLASS}, hashtext($1))`, [key])
      }
    },
    async isLocked (key) {
      const { rowCount } = await app.db.query(`select 1 from pg_locks where locktype = 'advisory' and classid = ${WORK_CLASS}
        and objid = (hashtext($1)::bigint & 4294967295)::oid and granted
        and database = (select oid from pg_database where datname = current_database())`, [key])
      return rowCount !== 0
    },
    async runAlone (key, work) {
      // Tries again and again, because a session that waits for a lock would not store its heartbeat.
      while (!await tryLock(session, ALONE_CLASS, key)) await sleep(RETRY_MS)
      try {
        return await work()
      } finally {
        await session.query('select pg_advisory_unlock($1, hashtext($2))', [ALONE_CLASS, key])
      }
    }
  }
}
