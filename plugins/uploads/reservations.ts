import { randomUUID } from 'node:crypto'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { lockUserForUpdate } from '../auth/rows.ts'
import { type Upload, deleteUpload, insertReservation, measureOthers, resizeReservation } from './rows.ts'

/** A file of unknown size reserves so much more at once, as often as the disk's free space is checked. */
const STEP_BYTES = 64 * 1024 ** 2

export type Reserved = Pick<Upload, 'user_id' | 'platform_id' | 'library_id' | 'fs_path' | 'file_name'>

interface Options {
  /** The most bytes in all uploads of a user. */
  quotaBytes: number
  /** Creates the error for more bytes. */
  quotaExceeded: () => Error
  /** The id of this process. */
  worker: string
}

/** Reserves bytes of a user's quota for whole files while they arrive, across all web workers. */
export function createReservations ({ quotaBytes, quotaExceeded, worker }: Options) {
  /** Runs work under a lock of the user, and with the bytes that no other upload of the user takes. */
  async function withRoom<T> (
    db: Db, userId: number, id: string, work: (tx: Db, room: number) => Promise<T>
  ): Promise<T> {
    return await inTransaction(db, async (tx) => {
      await lockUserForUpdate(tx, userId)
      return await work(tx, quotaBytes - await measureOthers(tx, userId, id))
    })
  }

  /**
   * Runs work that receives a file. Its bytes count against the quota from now on, and no longer after the work.
   *
   * @param bytes the announced size, at least 1
   * @param work gets the function that reserves more, which returns the reserved size
   * @throws the error for too many bytes
   */
  async function hold<T> (
    db: Db, upload: Reserved, bytes: number,
    work: (reserve: (bytes: number) => Promise<number>) => Promise<T>
  ): Promise<T> {
    const id = randomUUID()
    const { user_id: userId } = upload
    await withRoom(db, userId, id, async (tx, room) => {
      if (bytes > room) throw quotaExceeded()
      await insertReservation(tx, { ...upload, id, total_size: bytes }, worker)
    })
    let reserved = bytes
    async function reserve (wanted: number): Promise<number> {
      if (wanted <= reserved) return reserved
      reserved = await withRoom(db, userId, id, async (tx, room) => {
        if (wanted > room) throw quotaExceeded()
        const size = Math.min(wanted + STEP_BYTES, room)
        await resizeReservation(tx, id, size)
        return size
      })
      return reserved
    }
    try {
      return await work(reserve)
    } finally {
      await deleteUpload(db, id)
    }
  }

  return { hold }
}
