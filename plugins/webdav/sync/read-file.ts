import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../../core/errors.ts'
import type { FileReply } from '../../resources/file-reply.ts'
import type { DeviceContext } from '../acting-device.ts'
import { type FileRow, isLive, selectByPath, storeSeen } from '../rows.ts'
import type { OwnFiles } from './own-files.ts'
import type { Key } from './read-key.ts'

/** Not 404, because RetroArch takes a 404 for success and writes its body over the file on the device. */
const gone = (path: string) => new ApiError('GONE', `There is no file '${path}'; read manifest.server for those that exist`)

/** Creates the reading of files by devices. */
export function createReads (app: FastifyInstance, ownFiles: OwnFiles) {
  async function openOwn (row: FileRow): Promise<{ sha1: string, content: FileReply }> {
    const sha1 = row.sha1 ?? ''
    return {
      sha1,
      content: {
        handle: await ownFiles.open(row),
        type: 'application/octet-stream',
        cacheControl: 'private, no-cache',
        disposition: { type: 'attachment', fileName: row.path.slice(row.path.lastIndexOf('/') + 1) },
        validators: { etag: `"${sha1}"`, lastModified: new Date(row.updated_at).toUTCString() }
      }
    }
  }

  async function open (context: DeviceContext, row: FileRow): Promise<{ sha1: string, content: FileReply }> {
    if (row.asset === null) return await openOwn(row)
    const { row: { sha1 }, content } = await app.assets.open(context, { kind: row.asset.kind, id: row.asset.id })
    return { sha1, content }
  }

  /** Opens the content of a path. @param fetches true if the device gets all of the content @throws ApiError GONE */
  return async function read (context: DeviceContext, key: Key, fetches: boolean): Promise<FileReply> {
    const row = await selectByPath(context, key.folded)
    if (row === null || !isLive(row)) throw gone(key.path)
    const { sha1, content } = await open(context, row).catch((err: unknown) => {
      throw err instanceof ApiError && err.code === 'NOT_FOUND' ? gone(key.path) : err
    })
    try {
      if (fetches) await storeSeen(context.db, { deviceId: context.device.id, fileId: row.id, sha1, isSent: false })
    } catch (err) {
      await content.handle.close()
      throw err
    }
    return content
  }
}
