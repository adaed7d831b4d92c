import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { contextOf } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { badRequest, conflict } from '../../core/errors.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { withRefusals } from '../library/write-checks.ts'
import { isCutOff } from '../rom-files/upload.ts'
import { createCheck } from './content-digest.ts'
import { findUpload, pathOf } from './find-upload.ts'
import { type ChunkWrite, type Upload, deleteChunk, deleteWrite, fixChunkSize, insertWrite, upsertChunk } from './rows.ts'
import { type InspectBytes, createStaging, locateChunk } from './staging.ts'
import type { UploadFolders } from './upload-folder.ts'
import { tooLarge } from './upload-limits.ts'

export const CHUNK_MAX_BYTES = 64 * 1024 ** 2

const chunkTooLarge = (bytes: number | string) => tooLarge(bytes, CHUNK_MAX_BYTES, 'Send smaller chunks')

/** The part of an upload that a request sends. */
interface SentChunk {
  number: number
  /** The header `Content-Digest`. */
  digest: string | undefined
}

/** Returns the size that a request announces; null if unknown. */
function announcedBytes ({ headers }: FastifyRequest): number | null {
  const given = headers['content-length']
  if (given === undefined) return null
  if (!/^\d{1,15}$/.test(given) || Number(given) === 0) {
    throw badRequest(`Content-Length must be the number of bytes of the chunk, not '${given.slice(0, 50)}'`)
  }
  return Number(given)
}

/**
 * Runs work that writes into the file of an upload; a completion meanwhile does not publish that file.
 *
 * @returns false, without the work, if a process completes the upload
 */
async function writeShared (
  db: Db, write: Omit<ChunkWrite, 'id'>, work: () => Promise<boolean>
): Promise<boolean> {
  const id = randomUUID()
  if (!await insertWrite(db, { id, ...write })) return false
  try {
    return await work()
  } finally {
    await deleteWrite(db, id)
  }
}

/** Returns the error for a chunk that was not written. @param size the bytes that arrived */
function explainFailure (err: unknown, { fs_path: folder }: Upload, number: number, size: number): unknown {
  if (isCutOff(err)) return badRequest(`Chunk ${number} was interrupted after ${size} bytes; send it again`)
  // The platform folder was deleted with the last of its ROMs.
  if (errorCode(err) === 'ENOENT') return conflict(`'${folder}' was deleted at the same moment; send chunk ${number} again`)
  return err
}

/**
 * Creates the storage of chunks, in the folder that the complete file belongs to.
 *
 * @param worker the id of this process
 */
export function createChunkStorage (folders: UploadFolders, worker: string) {
  /** Writes the body of a request. @returns true if the chunk has its own file */
  async function write (
    request: FastifyRequest, upload: Upload, number: number, inspect: InspectBytes
  ): Promise<boolean> {
    const size = announcedBytes(request)
    const content = request.body instanceof Readable ? request.body : Readable.from([])
    const isLast = number === upload.total_chunks - 1
    const chunkSize = size === null || isLast ? upload.chunk_size : await fixChunkSize(request.db, upload.id, size)
    const start = size === null ? null : locateChunk({ ...upload, chunk_size: chunkSize }, number, size)
    const folder = await folders.open(upload)
    await requireFreeSpace(folder, size ?? CHUNK_MAX_BYTES)
    const staging = createStaging(folder, upload.id)
    const isShared = start !== null &&
      await writeShared(request.db, { upload_id: upload.id, worker_id: worker }, () =>
        staging.writeToUpload(start, content, inspect))
    if (!isShared) await staging.writeToOwnFile(number, content, inspect)
    return !isShared
  }

  return {
    /**
     * Receives a chunk, in any order and repeatedly.
     *
     * @throws ApiError BAD_REQUEST · NOT_FOUND · FORBIDDEN for another user's · TOO_LARGE · NO_FREE_SPACE
     */
    async storeChunk (
      request: FastifyRequest, uploadId: string, { number, digest }: SentChunk
    ): Promise<{ received: number, total: number }> {
      const { db } = request
      const upload = await findUpload(contextOf(request), uploadId)
      const { id, total_chunks: total } = upload
      if (number >= total) throw badRequest(`There is no chunk ${number}; chunks are numbered from 0 to ${total - 1}`)
      const announced = announcedBytes(request) ?? 0
      if (announced > CHUNK_MAX_BYTES) throw chunkTooLarge(announced)
      const check = createCheck(digest)
      let size = 0
      const inspect = (piece: Buffer) => {
        size += piece.length
        if (size > CHUNK_MAX_BYTES) throw chunkTooLarge(`more than ${CHUNK_MAX_BYTES}`)
        check.update(piece)
      }
      const writing = withRefusals(pathOf(upload), () => write(request, upload, number, inspect))
      const hasOwnFile = await writing.catch((err: unknown) => { throw explainFailure(err, upload, number, size) })
      if (size === 0) throw badRequest(`Chunk ${number} is empty; send its bytes`)
      try {
        check.finish()
      } catch (err) {
        await deleteChunk(db, id, number)
        throw err
      }
      return { received: await upsertChunk(db, id, { number, size, has_own_file: hasOwnFile }), total }
    }
  }
}
