import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import { ApiError } from '../../../core/errors.ts'
import type { ObjectReply } from '../../resources/file-reply.ts'
import { type DeviceContext, requireReceiver } from '../acting-device.ts'
import { type FileRow, isLive, selectByPath, storeSeen } from '../rows.ts'
import type { OwnFiles } from './own-files.ts'
import type { Key } from './read-key.ts'

/** The content of the path with an id. */
interface Opened { id: number, sha1: string, content: ObjectReply }

/** Not 404, because RetroArch takes a 404 for success and writes its body over the file on the device. */
const gone = (path: string) => new ApiError('GONE', `There is no file '${path}'; read manifest.server for those that exist`)

/** Creates the reading of files by devices. */
export function createReads (app: FastifyInstance, ownFiles: OwnFiles) {
  async function openOwn (row: FileRow): Promise<Opened> {
    const sha1 = row.sha1 ?? ''
    return {
      id: row.id,
      sha1,
      content: {
        object: await ownFiles.open(row),
        type: 'application/octet-stream',
        cacheControl: 'private, no-cache',
        disposition: { type: 'attachment', fileName: row.path.slice(row.path.lastIndexOf('/') + 1) },
        validators: { etag: `"${sha1}"`, lastModified: new Date(row.updated_at).toUTCString() }
      }
    }
  }

  async function open (context: Context, row: FileRow): Promise<Opened> {
    if (row.asset === null) return await openOwn(row)
    const { row: { sha1 }, content } = await app.assets.open(context, { kind: row.asset.kind, id: row.asset.id })
    return { id: row.id, sha1, content }
  }

  /** Opens the content of a path. @throws ApiError GONE */
  async function find (context: Context, key: Key): Promise<Opened> {
    const row = await selectByPath(context, key.folded)
    if (row === null || !isLive(row)) throw gone(key.path)
    return await open(context, row).catch((err: unknown) => {
      throw err instanceof ApiError && err.code === 'NOT_FOUND' ? gone(key.path) : err
    })
  }

  return {
    /** Opens the content of a path and stores nothing, for its headers. @throws ApiError GONE */
    look: async (context: Context, key: Key): Promise<ObjectReply> => (await find(context, key)).content,

    /**
     * Opens the content of a path for a device.
     *
     * @param fetches true if the device gets all of the content
     * @throws ApiError GONE, FORBIDDEN if the device only sends
     */
    async read (context: DeviceContext, key: Key, fetches: boolean): Promise<ObjectReply> {
      requireReceiver(context)
      const { id, sha1, content } = await find(context, key)
      try {
        if (fetches) await storeSeen(context.db, { deviceId: context.device.id, fileId: id, sha1, isSent: false })
      } catch (err) {
        await content.object.close()
        throw err
      }
      return content
    }
  }
}
