import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { findUpload } from './find-upload.ts'
import { createCompletion } from './finish-upload.ts'
import { selectChunks } from './rows.ts'
import type { UploadView } from './schemas.ts'
import { createUploadStarts } from './start-upload.ts'
import { createChunkStorage } from './store-chunk.ts'
import { createUploadFolders } from './upload-folder.ts'
import { createUploadLimits } from './upload-limits.ts'
import { toUploadView } from './views.ts'

export function createUploads (app: FastifyInstance, config: Config) {
  const folders = createUploadFolders(app)
  const limits = createUploadLimits(app, config)
  return {
    ...createUploadStarts({ app, folders, limits }),
    ...createChunkStorage(folders, app.workers.id),
    ...createCompletion(app, folders),

    async get (context: Context, uploadId: string): Promise<UploadView> {
      const upload = await findUpload(context, uploadId)
      return toUploadView(upload, await selectChunks(context.db, upload.id))
    }
  }
}
