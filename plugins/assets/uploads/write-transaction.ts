import { ForeignKeyConstraintViolationException } from '@mikro-orm/core'
import type { FastifyBaseLogger } from 'fastify'
import { databaseDate } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'
import { conflict } from '../../../core/errors.ts'
import type { Files, StagedFile } from '../asset-files.ts'
import type { AssetKind } from '../entities.ts'
import { lockName } from './write-rows.ts'

/** Assets whose writes run one after the other. */
export interface WriteKey { user_id: number, rom_id: number | null, kind: AssetKind }

/** The operations within one transaction, and on files before and after it. */
export interface WriteContext {
  tx: Db
  now: Date
  /** Also locks these lineages against concurrent writes. */
  lock (...lineages: readonly WriteKey[]): Promise<void>
  /** Publishes a file before a row names it; the file is deleted if the transaction rolls back. */
  publish (file: StagedFile, folder: string, fileName: string): Promise<string>
  /** Deletes files after the commit. */
  deleteAfterCommit (diskPaths: readonly string[]): void
}

const lockKey = ({ user_id: user, rom_id: rom, kind }: WriteKey) => `assets:${user}:${rom}:${kind}`

async function lockLineages (tx: Db, lineages: readonly WriteKey[]): Promise<void> {
  // A fixed order of locks prevents deadlocks.
  for (const key of [...new Set(lineages.map(lockKey))].sort()) await lockName(tx, key)
}

/** Creates the function that runs all writes of assets. */
export function createWriteRunner (log: FastifyBaseLogger, files: Files) {
  async function removeFiles (paths: readonly string[]): Promise<void> {
    await files.remove(paths).catch((err: unknown) => { log.warn({ err }, 'unused files could not be deleted') })
  }

  /**
   * Runs `work` in one transaction, after all other writes to the same lineages. Published files are deleted if it is
   * rolled back. If the commit itself fails, the files stay, because nobody knows whether a row names them.
   *
   * @throws ApiError CONFLICT if a referenced row was deleted meanwhile
   */
  return async function run<T> (
    db: Db, lineages: readonly WriteKey[], work: (writing: WriteContext) => Promise<T>
  ): Promise<T> {
    try {
      return await db.transact(async (tx) => {
        await lockLineages(tx, lineages)
        return await work({
          tx,
          now: databaseDate(),
          lock: async (...others) => { await lockLineages(tx, others) },
          async publish (file, folder, fileName) {
            const path = await file.publish(folder, fileName)
            tx.afterRollback(() => removeFiles([path]))
            return path
          },
          deleteAfterCommit (paths) { tx.afterCommit(() => removeFiles(paths)) }
        })
      })
    } catch (err) {
      if (!(err instanceof ForeignKeyConstraintViolationException)) throw err
      throw conflict('The ROM, the device or the account was deleted at the same moment; fetch the current state and try again')
    }
  }
}
