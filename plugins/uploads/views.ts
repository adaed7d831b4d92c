import { formatDate } from '../../core/typebox.ts'
import { type Chunk, LIFETIME_HOURS, type Upload } from './rows.ts'
import type { UploadView } from './schemas.ts'

const HOUR_MS = 3_600_000

export const toUploadView = (upload: Upload & { created_at: number }, chunks: readonly Chunk[]): UploadView => ({
  upload_id: upload.id,
  platform_id: upload.platform_id,
  library_id: upload.library_id,
  file_name: upload.file_name,
  total_size: upload.total_size,
  total_chunks: upload.total_chunks,
  received_chunks: chunks.map(({ number }) => number),
  expires_at: formatDate(upload.created_at + LIFETIME_HOURS * HOUR_MS)
})
