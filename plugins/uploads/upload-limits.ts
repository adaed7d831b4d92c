import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { ApiError, conflict } from '../../core/errors.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { lockUserForUpdate } from '../auth/rows.ts'
import type { SizeLimit } from '../rom-files/upload.ts'
import { uploadsConfig } from './config.ts'
import { type Reserved, createReservations } from './reservations.ts'
import { type OpenUploads, type Upload, deleteDeadReservations, insertUpload, measureOpen } from './rows.ts'

export const tooLarge = (bytes: number | string, max: number, remedy: string) =>
  new ApiError('TOO_LARGE', `The upload has ${bytes} bytes; ${max} are allowed. ${remedy}`)

/** Creates the limits of ROM uploads: the size of a file, and the number and bytes of a user's open uploads. */
export function createUploadLimits ({ workers }: Pick<FastifyInstance, 'workers'>, config: Config) {
  const { max_bytes: maxBytes, quota_bytes: quotaBytes, max_open: maxOpen } = uploadsConfig.of(config)
  const romTooLarge = (bytes: number | string) => tooLarge(bytes, maxBytes, 'Raise MAX_ROM_UPLOAD_SIZE_BYTES to send more')
  const quotaExceeded = () => new ApiError('NO_FREE_SPACE', `Your uploads would take more than ${quotaBytes} bytes before they ` +
    'are complete; complete or cancel some, or raise ROM_UPLOAD_QUOTA_BYTES')
  const reservations = createReservations({ quotaBytes, quotaExceeded, worker: workers.id })
  /** The limit of a file whose size is unknown until all of it has arrived. */
  const anyFile: SizeLimit = { maxBytes, tooLarge: () => romTooLarge(`more than ${maxBytes}`) }

  /** Checks the limits of a user. @throws ApiError CONFLICT or NO_FREE_SPACE if a further upload would exceed them */
  function checkQuota ({ own_count: count, own_bytes: ownBytes }: OpenUploads, size: number): void {
    if (count >= maxOpen) throw conflict(`You have ${count} incomplete uploads; complete or cancel some, or raise MAX_OPEN_ROM_UPLOADS`)
    if (quotaBytes > 0 && ownBytes + size > quotaBytes) throw quotaExceeded()
  }

  return {
    /** Checks the announced size of a file. @throws ApiError TOO_LARGE */
    checkSize (bytes: number): void {
      if (maxBytes > 0 && bytes > maxBytes) throw romTooLarge(bytes)
    },

    /**
     * Checks quota and disk space.
     *
     * @throws ApiError CONFLICT, or NO_FREE_SPACE if the upload does not fit beside the open ones
     */
    async checkRoom (db: Db, userId: number, folder: string, size: number): Promise<void> {
      await deleteDeadReservations(db, userId, await workers.listAlive())
      const open = await measureOpen(db, userId)
      checkQuota(open, size)
      await requireFreeSpace(folder, open.awaited_bytes + size)
    },

    /**
     * Stores an upload under a lock of its user, because concurrent uploads of one user must be counted one after the
     * other.
     */
    async store (db: Db, upload: Omit<Upload, 'chunk_size'>): Promise<void> {
      await inTransaction(db, async (tx) => {
        await lockUserForUpdate(tx, upload.user_id)
        checkQuota(await measureOpen(tx, upload.user_id), upload.total_size)
        await insertUpload(tx, upload)
      })
    },

    /** Runs work that receives a whole file with its limit. The file counts against the quota of its user meanwhile. */
    withLimit: <T>(db: Db, upload: Reserved, bytes: number, work: (limit: SizeLimit) => Promise<T>) =>
      quotaBytes === 0
        ? work(anyFile)
        : reservations.hold(db, upload, bytes, (reserve) => work({ ...anyFile, reserve }))
  }
}
export type UploadLimits = ReturnType<typeof createUploadLimits>
