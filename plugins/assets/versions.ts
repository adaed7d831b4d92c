import type { EntityManager } from '@mikro-orm/postgresql'
import { notFound } from '../../core/errors.ts'
import { formatDate } from '../../core/typebox.ts'
import { AssetVersion } from './entities.ts'
import type { AssetRow } from './rows.ts'
import type { VersionView } from './schemas.ts'
import { PLURALS } from './views.ts'

export const toVersionView = (of: Pick<AssetRow, 'id' | 'kind'>, version: AssetVersion): VersionView => ({
  id: version.id,
  file_name: version.file_name,
  file_size_bytes: version.file_size_bytes,
  sha1: version.sha1,
  content_hash: version.content_hash ?? null,
  client_mtime: formatDate(version.client_mtime ?? null),
  content_updated_at: formatDate(version.content_updated_at),
  created_at: formatDate(version.created_at),
  download_path: `/api/${PLURALS[of.kind]}/${of.id}/versions/${version.id}/content`
})

/** Former contents, the last one first. */
export async function listVersions (em: EntityManager, of: AssetRow): Promise<VersionView[]> {
  const versions = await em.find(AssetVersion, { asset: of.id }, { orderBy: { created_at: 'desc', id: 'desc' } })
  return versions.map((version) => toVersionView(of, version))
}

/** @throws ApiError NOT_FOUND */
export async function getVersion (em: EntityManager, of: AssetRow, id: number): Promise<AssetVersion> {
  const version = await em.findOne(AssetVersion, { id, asset: of.id })
  if (version === null) throw notFound(`Version with ID '${id}' of '${of.file_name}' not found`)
  return version
}
