import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { notFound } from '../../core/errors.ts'
import { createDeviceContexts } from './acting-device.ts'
import { type FileRow, selectAll, selectById } from './rows.ts'
import { createAssignments } from './sync/assign-file.ts'
import { createDeletions } from './sync/delete-file.ts'
import { createLists } from './sync/list-files.ts'
import { createOwnFiles } from './sync/own-files.ts'
import { createPuts } from './sync/put-file.ts'
import { createReads } from './sync/read-file.ts'

/** Files of a deleted asset that are restored with it, whenever they were deleted. */
const ANY_SECONDS = 100 * 365 * 86_400

export function createWebdav (app: FastifyInstance, config: Config) {
  const ownFiles = createOwnFiles(app, config)
  const withDevice = createDeviceContexts(app)
  const deletions = createDeletions(app)

  return {
    withDevice,
    list: createLists(app),
    ...createReads(app, ownFiles),
    put: createPuts(app, ownFiles),
    delete: deletions.delete,
    ...createAssignments(app),
    removeOwn: ownFiles.removeLater,

    listAll: (context: Context): Promise<FileRow[]> => selectAll(context),

    /** Restores a deleted file. A file that is not deleted stays as it is. @throws ApiError NOT_FOUND */
    async restore (context: Context, id: number): Promise<FileRow> {
      const row = await selectById(context, id)
      if (row === null) throw notFound(`File with ID '${id}' not found`)
      await deletions.restore(context, row, ANY_SECONDS)
      return await selectById(context, id) ?? row
    }
  }
}
export type Webdav = ReturnType<typeof createWebdav>
