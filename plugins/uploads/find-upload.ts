import type { Context } from '../../core/access/context.ts'
import { badRequest, forbidden, notFound } from '../../core/errors.ts'
import { readUuid } from '../../core/web/reference.ts'
import { type Upload, selectUpload } from './rows.ts'

export const unknownUpload = () => notFound('Upload session not found or expired')

/** Returns the path of the complete file in its library. */
export const pathOf = ({ fs_path: path, file_name: name }: Pick<Upload, 'fs_path' | 'file_name'>) => `${path}/${name}`

/** Finds an upload of the caller. @throws ApiError BAD_REQUEST, NOT_FOUND or FORBIDDEN */
export async function findUpload ({ db, caller }: Context, given: string): Promise<Upload & { created_at: number }> {
  const id = readUuid(given)
  if (id === null) throw badRequest('Invalid upload ID')
  const upload = await selectUpload(db, id)
  if (upload === null) throw unknownUpload()
  if (upload.user_id !== caller.id) throw forbidden('This upload belongs to another user')
  return upload
}
