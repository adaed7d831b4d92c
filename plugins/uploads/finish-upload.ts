import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { ApiError, badRequest, conflict } from '../../core/errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { withRefusals } from '../library/write-checks.ts'
import { UploadLostError, assembleUpload, checkComplete } from './assemble-upload.ts'
import { findUpload, pathOf, unknownUpload } from './find-upload.ts'
import { type Upload, claimUpload, deleteUpload, hasOpenWrites, releaseUpload, selectChunks, selectUpload } from './rows.ts'
import { createStaging } from './staging.ts'
import type { UploadFolders } from './upload-folder.ts'

const platformOf = ({ platform_id: id, library_id: library }: Upload) => ({ id, library_id: library })

const claim = async (app: FastifyInstance, db: Db, { id }: Upload) =>
  await claimUpload(db, id, app.workers.id, await app.workers.listAlive())

async function discard (
  app: FastifyInstance, db: Db, { id, library_id: library, fs_path: path }: Upload
): Promise<void> {
  await deleteUpload(db, id)
  const { dir } = await app.library.get(library)
  await createStaging(join(dir, path), id).discard()
}

async function publish (app: FastifyInstance, folders: UploadFolders, db: Db, upload: Upload): Promise<void> {
  const chunks = await selectChunks(db, upload.id)
  checkComplete(upload, chunks)
  const folder = await folders.open(upload)
  const staging = createStaging(folder, upload.id)
  const target = join(folder, upload.file_name)
  const hasWrites = await hasOpenWrites(db, upload.id, await app.workers.listAlive())
  await assembleUpload(staging, target, upload, { chunks, hasWrites })
  if (await selectUpload(db, upload.id) === null) {
    await rm(target, { force: true })
    throw unknownUpload()
  }
  // From here on the file belongs to the library: a repeated completion finds it there.
  await app.scans.scanEntries(platformOf(upload), [upload.file_name], upload.user_id)
  await deleteUpload(db, upload.id)
  await staging.discard()
}

/** Creates the completion of uploads in chunks: `complete` publishes the file, `cancel` deletes the upload. */
export function createCompletion (app: FastifyInstance, folders: UploadFolders) {
  return {
    /**
     * Assembles the chunks to a file of the library, and starts its scan.
     *
     * @throws ApiError BAD_REQUEST while chunks are missing, and for good if they differ from what was announced ·
     * CONFLICT if the name was taken meanwhile, or another process completes the upload · NOT_FOUND · FORBIDDEN
     */
    async complete (context: Context, uploadId: string): Promise<void> {
      const { db } = context
      const upload = await findUpload(context, uploadId)
      if (!await claim(app, db, upload)) throw conflict('This upload is already being completed')
      try {
        await withRefusals(pathOf(upload), () => publish(app, folders, db, upload))
      } catch (err) {
        const isCancelled = await selectUpload(db, upload.id) === null
        if (!isCancelled && !(err instanceof UploadLostError) && errorCode(err) !== 'ENOENT') throw err
        // If the disk of the chunks is away, wait for it. Otherwise the upload can never be completed.
        await folders.open(upload)
        await discard(app, db, upload)
        throw err instanceof UploadLostError ? badRequest(err.message) : unknownUpload()
      } finally {
        await releaseUpload(db, upload.id)
      }
    },

    /**
     * Deletes an upload and its chunks, if it exists. A process that is just completing the upload deletes the file
     * itself.
     */
    async cancel (context: Context, uploadId: string): Promise<void> {
      const { db } = context
      try {
        const upload = await findUpload(context, uploadId)
        if (await claim(app, db, upload)) await discard(app, db, upload)
        else await deleteUpload(db, upload.id)
      } catch (err) {
        if (!(err instanceof ApiError) || err.code !== 'NOT_FOUND') throw err
      }
    }
  }
}
