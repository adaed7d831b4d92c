import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Context, contextOf } from '../../core/access/context.ts'
import { badRequest } from '../../core/errors.ts'
import { publishFile } from '../../core/files/publish-file.ts'
import { checkFileName, withRefusals } from '../library/write-checks.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { readGivenName, receive } from '../rom-files/upload.ts'
import { pathOf } from './find-upload.ts'
import { type UploadPlatform, selectPlatform } from './rows.ts'
import type { Start, UploadTarget } from './schemas.ts'
import { CHUNK_MAX_BYTES } from './store-chunk.ts'
import type { UploadFolder, UploadFolders } from './upload-folder.ts'
import type { UploadLimits } from './upload-limits.ts'

interface Services {
  app: FastifyInstance
  folders: UploadFolders
  limits: UploadLimits
}

/** Checks the sizes that the start of an upload announces. @throws ApiError BAD_REQUEST */
function checkChunks ({ 'x-upload-total-size': size, 'x-upload-total-chunks': count }: Start): void {
  if (Math.ceil(size / count) > CHUNK_MAX_BYTES) throw badRequest(`A chunk has at most ${CHUNK_MAX_BYTES} bytes; split the file into more chunks`)
  if (count > size) throw badRequest('A chunk has at least one byte; split the file into fewer chunks')
}

/** Checks the target of an upload before any bytes are accepted. */
async function findTarget (
  { app, folders }: Services, context: Context<AnyCaller>, upload: UploadTarget, name: string
): Promise<{ platform: UploadPlatform, target: UploadFolder }> {
  const { 'x-upload-platform': platformId, 'x-upload-library': libraryId } = upload
  const platform: UploadPlatform | null = await selectPlatform(context, platformId)
  if (platform === null) throw badRequest('Platform not found')
  checkFileName(name, app.library.rules)
  const target = await folders.find(platform, libraryId ?? null)
  await folders.checkFree(target, name)
  return { platform, target }
}

/** Creates the two ways to send a ROM: the start of an upload in chunks, and a whole file in one request. */
export function createUploadStarts (services: Services) {
  const { app, folders, limits } = services

  return {
    /**
     * Starts an upload in chunks.
     *
     * @throws ApiError BAD_REQUEST for an unknown platform or library, a name that is invalid or taken · CONFLICT ·
     * UNAVAILABLE while the library is not mounted · NO_FREE_SPACE · TOO_LARGE
     */
    async start (request: FastifyRequest, headers: Start): Promise<{ upload_id: string }> {
      const { db, caller } = contextOf(request)
      const name = readGivenName(request)
      const { 'x-upload-total-size': size, 'x-upload-total-chunks': count } = headers
      limits.checkSize(size)
      checkChunks(headers)
      const { platform, target } = await findTarget(services, { db, caller }, headers, name)
      await limits.checkRoom(db, caller.id, target.folder, size)
      const id = randomUUID()
      await limits.store(db, {
        id,
        user_id: caller.id,
        platform_id: platform.id,
        library_id: target.library_id,
        fs_path: target.fs_path,
        file_name: name,
        total_size: size,
        total_chunks: count
      })
      return { upload_id: id }
    },

    /**
     * Receives a whole file in one request, as a form or as the body, and starts its scan.
     *
     * @throws ApiError as `start`
     */
    async add (request: FastifyRequest, headers: UploadTarget): Promise<void> {
      const { db, caller } = contextOf(request)
      const name = readGivenName(request)
      const announced = Number(request.headers['content-length'] ?? 0)
      limits.checkSize(announced)
      const { platform, target } = await findTarget(services, { db, caller }, headers, name)
      // Without a length the file has one byte at least.
      const size = Math.max(announced, 1)
      await limits.checkRoom(db, caller.id, target.folder, size)
      const folder = await folders.open(target)
      const { fs_path: path, library_id: library } = target
      const upload = {
        user_id: caller.id, platform_id: platform.id, library_id: library, fs_path: path, file_name: name
      }
      await withRefusals(pathOf(upload), async () => {
        const arrived = await limits.withLimit(db, upload, size, (limit) => receive(request, folder, limit))
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
