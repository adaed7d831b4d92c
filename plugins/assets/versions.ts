import type { Db } from '../../core/database/db.ts'
import { notFound } from '../../core/errors.ts'
import { AssetVersion } from './entities.ts'
import type { AssetRow } from './rows.ts'
import type { VersionView } from './schemas.ts'
import { toVersionView } from './views.ts'

/** Lists former contents, the last one first. */
export async function listVersions (db: Db, of: AssetRow): Promise<VersionView[]> {
  const versions = await db.em.find(AssetVersion, { asset: of.id }, { orderBy: { created_at: 'desc', id: 'desc' }, populate: ['content_device'] })
  return versions.map((version) => toVersionView(of, version))
}

/** @throws ApiError NOT_FOUND */
export async function getVersion (db: Db, of: AssetRow, id: number): Promise<AssetVersion> {
  const version = await db.em.findOne(AssetVersion, { id, asset: of.id })
  if (version === null) throw notFound(`Version with ID '${id}' of '${of.file_name}' not found`)
  return version
}
