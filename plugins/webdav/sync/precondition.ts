import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../../../core/errors.ts'
import { isWriteRefused } from '../../resources/conditions.ts'
import { type FileRow, currentSha1 } from '../rows.ts'

/**
 * Checks that a path is in the state that a client expects; null for a path that never had a file.
 *
 * @throws ApiError PRECONDITION_FAILED
 */
export type Precondition = (row: FileRow | null) => void

/** Creates the check of the conditions in the headers of a write, such as `If-Match`, which davfs2 sends. */
export function createPrecondition (headers: IncomingHttpHeaders): Precondition {
  return (row) => {
    const sha1 = row === null ? null : currentSha1(row)
    const current = row === null || sha1 === null
      ? null
      : { etag: `"${sha1}"`, lastModified: new Date(row.asset?.updated_at ?? row.updated_at).toUTCString() }
    if (isWriteRefused(headers, current)) throw new ApiError('PRECONDITION_FAILED')
  }
}
