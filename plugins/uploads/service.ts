import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { callerOf } from '../../core/access/auth.ts'
import { type Context, contextOf } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { ApiError, badRequest, conflict, forbidden, notFound } from '../../core/errors.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { readUuid } from '../../core/web/reference.ts'
import { uploadsConfig } from './config.ts'
import { lockUser } from '../auth/rows.ts'
import { checkFileName, withRefusals } from '../library/write-checks.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { type SizeLimit, readGivenName, isCutOff, receive } from '../rom-files/upload.ts'
import { UploadLostError, checkComplete, assembleUpload } from './complete-upload.ts'
import { createCheck } from './content-digest.ts'
import { createUploadFolders } from './upload-folder.ts'
import {
  type OpenUploads, type Upload, type UploadPlatform, fixChunkSize, claimUpload, deleteChunk,
  deleteDeadReservations, deleteUpload,
  insertUpload, measureOpen, releaseUpload, selectChunks, selectPlatform, selectUpload, upsertChunk
} from './rows.ts'
import type { UploadTarget, Start, UploadView } from './schemas.ts'
import { publishFile } from './publish-file.ts'
import { type Reserved, createReservations } from './reservations.ts'
import { type InspectBytes, createStaging, locateChunk } from './staging.ts'
import { toUploadView } from './views.ts'

const CHUNK_MAX_BYTES = 64 * 1024 ** 2

const pathOf = ({ fs_path: path, file_name: name }: Upload) => `${path}/${name}`
const platformOf = ({ platform_id: id, library_id: library }: Upload) => ({ id, library_id: library })
const unknownUpload = () => notFound('Upload session not found or expired')

/** Returns the size that a request announces; null if unknown. */
function announcedBytes ({ headers }: FastifyRequest): number | null {
  const given = headers['content-length']
  if (given === undefined) return null
  if (!/^\d{1,15}$/.test(given) || Number(given) === 0) {
    throw badRequest(`Content-Length must be the number of bytes of the chunk, not '${given.slice(0, 50)}'`)
  }
  return Number(given)
}

const tooLarge = (bytes: number | string, max: number, remedy: string) =>
  new ApiError('TOO_LARGE', `The upload has ${bytes} bytes; ${max} are allowed. ${remedy}`)
const chunkTooLarge = (bytes: number | string) => tooLarge(bytes, CHUNK_MAX_BYTES, 'Send smaller chunks')

export function createUploads (app: FastifyInstance, config: Config) {
  const { max_bytes: maxBytes, quota_bytes: quotaBytes, max_open: maxOpen } = uploadsConfig.of(config)
  const uploadFolders = createUploadFolders(app)
  const romTooLarge = (bytes: number | string) => tooLarge(bytes, maxBytes, 'Raise MAX_ROM_UPLOAD_SIZE_BYTES to send more')

  const quotaExceeded = () => new ApiError('NO_FREE_SPACE', `Your uploads would take more than ${quotaBytes} bytes before they ` +
    'are complete; complete or cancel some, or raise ROM_UPLOAD_QUOTA_BYTES')

  /** Checks the target of an upload before any bytes are accepted. */
  async function findTarget (
    context: Context<AnyCaller>, { 'x-upload-platform': platformId, 'x-upload-library': libraryId }: UploadTarget, name: string
  ) {
    const platform: UploadPlatform | null = await selectPlatform(context, platformId)
    if (platform === null) throw badRequest('Platform not found')
    checkFileName(name, app.library.rules)
    const location = await uploadFolders.find(platform, libraryId ?? null)
    await uploadFolders.checkFree(location, name)
    return { platform, place: location }
  }

  /** Finds an upload of the caller. @throws ApiError BAD_REQUEST, NOT_FOUND or FORBIDDEN */
  async function find ({ db, caller }: Context, given: string): Promise<Upload & { created_at: number }> {
    const id = readUuid(given)
    if (id === null) throw badRequest('Invalid upload ID')
    const upload = await selectUpload(db, id)
    if (upload === null) throw unknownUpload()
    if (upload.user_id !== caller.id) throw forbidden('This upload belongs to another user')
    return upload
  }

  /** Checks the limits of a user. @throws ApiError CONFLICT or NO_FREE_SPACE if a further upload would exceed them */
  function checkQuota ({ own_count: count, own_bytes: ownBytes }: OpenUploads, size: number): void {
    if (count >= maxOpen) throw conflict(`You have ${count} incomplete uploads; complete or cancel some, or raise MAX_OPEN_ROM_UPLOADS`)
    if (quotaBytes > 0 && ownBytes + size > quotaBytes) throw quotaExceeded()
  }

  /** The limit of a file whose size is unknown until all of it has arrived. */
  const anyFile: SizeLimit = { maxBytes, tooLarge: () => romTooLarge(`more than ${maxBytes}`) }
  const reservations = createReservations({ quotaBytes, quotaExceeded, worker: app.workers.id })

  /** Runs work that receives a whole file with its limit. The file counts against the quota of its user meanwhile. */
  const withLimit = <T>(db: Db, upload: Reserved, bytes: number, work: (limit: SizeLimit) => Promise<T>) =>
    quotaBytes === 0
      ? work(anyFile)
      : reservations.hold(db, upload, bytes, (reserve) => work({ ...anyFile, reserve }))

  /**
   * Checks limits and disk space.
   *
   * @throws ApiError CONFLICT, or NO_FREE_SPACE if the upload does not fit beside the open ones
   */
  async function checkRoom (db: Db, userId: number, folder: string, size: number): Promise<void> {
    await deleteDeadReservations(db, userId, await app.workers.listAlive())
    const open = await measureOpen(db, userId)
    checkQuota(open, size)
    await requireFreeSpace(folder, open.awaited_bytes + size)
  }

  /**
   * Stores an upload under a lock of its user, because concurrent uploads of one user must be counted one after the
   * other.
   */
  async function begin (db: Db, upload: Omit<Upload, 'chunk_size'>): Promise<void> {
    await inTransaction(db, async (tx) => {
      await lockUser(tx, upload.user_id)
      checkQuota(await measureOpen(tx, upload.user_id), upload.total_size)
      await insertUpload(tx, upload)
    })
  }

  /** Writes the body of a request. @returns true if the chunk has its own file, apart from the upload's */
  async function write (
    request: FastifyRequest, upload: Upload, number: number, inspect: InspectBytes
  ): Promise<boolean> {
    const size = announcedBytes(request)
    const content = request.body instanceof Readable ? request.body : Readable.from([])
    const isLast = number === upload.total_chunks - 1
    const chunkSize = size === null || isLast ? upload.chunk_size : await fixChunkSize(request.db, upload.id, size)
    const start = size === null ? null : locateChunk({ ...upload, chunk_size: chunkSize }, number, size)
    const folder = await uploadFolders.open(upload)
    await requireFreeSpace(folder, size ?? CHUNK_MAX_BYTES)
    const staging = createStaging(folder, upload.id)
    await (
      start === null ? staging.writeToOwnFile(number, content, inspect) : staging.writeToUpload(start, content, inspect)
    )
    return start === null
  }

  async function discard (db: Db, { id, library_id: library, fs_path: path }: Upload): Promise<void> {
    await deleteUpload(db, id)
    const { dir } = await app.library.get(library)
    await createStaging(join(dir, path), id).discard()
  }

  async function complete (db: Db, upload: Upload): Promise<void> {
    const chunks = await selectChunks(db, upload.id)
    checkComplete(upload, chunks)
    const folder = await uploadFolders.open(upload)
    const staging = createStaging(folder, upload.id)
    const target = join(folder, upload.file_name)
    await assembleUpload(staging, target, upload, chunks)
    if (await selectUpload(db, upload.id) === null) {
      await rm(target, { force: true })
      throw unknownUpload()
    }
    // From here on the file belongs to the library: a repeated completion finds it there.
    await app.scans.scanEntries(platformOf(upload), [upload.file_name], upload.user_id)
    await deleteUpload(db, upload.id)
    await staging.discard()
  }

  return {
    /**
     * Starts an upload in chunks.
     *
     * @throws ApiError BAD_REQUEST for an unknown platform or library, a name that is invalid or taken · CONFLICT ·
     * UNAVAILABLE while the library is not mounted · NO_FREE_SPACE · TOO_LARGE
     */
    async start (request: FastifyRequest, headers: Start): Promise<{ upload_id: string }> {
      const { db } = request
      const caller = callerOf(request)
      const name = readGivenName(request)
      const { 'x-upload-total-size': size, 'x-upload-total-chunks': count } = headers
      if (maxBytes > 0 && size > maxBytes) throw romTooLarge(size)
      if (Math.ceil(size / count) > CHUNK_MAX_BYTES) throw badRequest(`A chunk has at most ${CHUNK_MAX_BYTES} bytes; split the file into more chunks`)
      if (count > size) throw badRequest('A chunk has at least one byte; split the file into fewer chunks')
      const { platform, place: location } = await findTarget({ db, caller }, headers, name)
      await checkRoom(db, caller.id, location.folder, size)
      const id = randomUUID()
      await begin(db, {
        id,
        user_id: caller.id,
        platform_id: platform.id,
        library_id: location.library_id,
        fs_path: location.fs_path,
        file_name: name,
        total_size: size,
        total_chunks: count
      })
      return { upload_id: id }
    },

    /**
     * Receives a chunk, in any order and repeatedly.
     *
     * @throws ApiError BAD_REQUEST · NOT_FOUND · FORBIDDEN for another user's · TOO_LARGE · NO_FREE_SPACE
     */
    async storeChunk (
      request: FastifyRequest, given: string, number: number, digest: string | undefined
    ): Promise<{ received: number, total: number }> {
      const { db } = request
      const upload = await find(contextOf(request), given)
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
      const hasOwnFile = await writing.catch((err: unknown) => {
        if (isCutOff(err)) throw badRequest(`Chunk ${number} was interrupted after ${size} bytes; send it again`)
        // The platform folder was deleted with the last of its ROMs.
        if (errorCode(err) === 'ENOENT') throw conflict(`'${upload.fs_path}' was deleted at the same moment; send chunk ${number} again`)
        throw err
      })
      if (size === 0) throw badRequest(`Chunk ${number} is empty; send its bytes`)
      try {
        check.finish()
      } catch (err) {
        await deleteChunk(db, id, number)
        throw err
      }
      return { received: await upsertChunk(db, id, { number, size, is_apart: hasOwnFile }), total }
    },

    async get (context: Context, given: string): Promise<UploadView> {
      const { db } = context
      const upload = await find(context, given)
      return toUploadView(upload, await selectChunks(db, upload.id))
    },

    /**
     * Assembles the chunks to a file of the library, and starts its scan.
     *
     * @throws ApiError BAD_REQUEST while chunks are missing, and for good if they differ from what was announced ·
     * CONFLICT if the name was taken meanwhile, or another process completes the upload · NOT_FOUND · FORBIDDEN
     */
    async complete (context: Context, given: string): Promise<void> {
      const { db } = context
      const upload = await find(context, given)
      if (!await claimUpload(db, upload.id, app.workers.id, await app.workers.listAlive())) {
        throw conflict('This upload is already being completed')
      }
      try {
        await withRefusals(pathOf(upload), () => complete(db, upload))
      } catch (err) {
        const isCancelled = await selectUpload(db, upload.id) === null
        if (!isCancelled && !(err instanceof UploadLostError) && errorCode(err) !== 'ENOENT') throw err
        // If the disk of the chunks is away, wait for it. Otherwise the upload can never be completed.
        await uploadFolders.open(upload)
        await discard(db, upload)
        throw err instanceof UploadLostError ? badRequest(err.message) : unknownUpload()
      } finally {
        await releaseUpload(db, upload.id)
      }
    },

    /**
     * Deletes an upload and its chunks, if it exists. A process that is just completing the upload deletes the file
     * itself.
     */
    async cancel (context: Context, given: string): Promise<void> {
      const { db } = context
      try {
        const upload = await find(context, given)
        if (await claimUpload(db, upload.id, app.workers.id, await app.workers.listAlive())) await discard(db, upload)
        else await deleteUpload(db, upload.id)
      } catch (err) {
        if (!(err instanceof ApiError) || err.code !== 'NOT_FOUND') throw err
      }
    },

    /**
     * Receives a whole file in one request, as a form or as the body, and starts its scan.
     *
     * @throws ApiError as `start`
     */
    async add (request: FastifyRequest, target: UploadTarget): Promise<void> {
      const { db } = request
      const caller = callerOf(request)
      const name = readGivenName(request)
      const announced = Number(request.headers['content-length'] ?? 0)
      if (maxBytes > 0 && announced > maxBytes) throw romTooLarge(announced)
      const { platform, place: location } = await findTarget({ db, caller }, target, name)
      // Without a length the file has one byte at least.
      const size = Math.max(announced, 1)
      await checkRoom(db, caller.id, location.folder, size)
      const folder = await uploadFolders.open(location)
      const { fs_path: path, library_id: library } = location
      const upload = {
        user_id: caller.id, platform_id: platform.id, library_id: library, fs_path: path, file_name: name
      }
      await withRefusals(`${path}/${name}`, async () => {
        const arrived = await withLimit(db, upload, size, (limit) => receive(request, name, folder, limit))
        try {
          await publishFile(arrived.path, join(folder, name))
        } finally {
          await rm(arrived.path, { force: true })
        }
      })
      await app.scans.scanEntries({ ...platform, library_id: library }, [name], caller.id)
    }
  }
}
