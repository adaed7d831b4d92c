import { notFound } from '../../../core/errors.ts'
import { type FileRow, type Owner, isLive, selectAll, selectBelow, selectByPath } from '../rows.ts'
import { ROOTS, foldPath } from '../sync/read-key.ts'
import { type Resource, toHref } from './multistatus.ts'

const TYPE = 'application/octet-stream'

function toFile (prefix: string, row: FileRow): Resource {
  const { asset } = row
  const parts = row.path.split('/')
  const sha1 = asset?.sha1 ?? row.sha1
  return {
    href: toHref(prefix, parts, false),
    name: parts.at(-1) ?? '',
    file: { size: asset?.file_size_bytes ?? row.file_size_bytes, type: TYPE, etag: sha1 === null ? null : `"${sha1}"` },
    modified_at: asset?.updated_at ?? row.updated_at
  }
}

const toFolder = (prefix: string, parts: readonly string[]): Resource =>
  ({ href: toHref(prefix, parts, true), name: parts.at(-1) ?? 'webdav', file: null, modified_at: null })

/** Lists the entries of a folder, which are all of its files and the first folders of all deeper ones. */
function listEntries (prefix: string, parts: readonly string[], rows: readonly FileRow[]): Resource[] {
  const entries = new Map<string, Resource>()
  for (const row of rows.filter(isLive)) {
    const path = row.path.split('/')
    const name = path[parts.length]
    if (name === undefined || entries.has(foldPath(name))) continue
    const depth = parts.length + 1
    entries.set(foldPath(name), path.length === depth ? toFile(prefix, row) : toFolder(prefix, path.slice(0, depth)))
  }
  return [...entries.values()]
}

/**
 * Lists a file or folder of the files that a user syncs.
 *
 * @param prefix the address of the sync
 * @throws ApiError NOT_FOUND
 */
export async function listSynced (
  owner: Owner, prefix: string, parts: readonly string[], depth: 0 | 1
): Promise<Resource[]> {
  const folded = foldPath(parts.join('/'))
  const row = await selectByPath(owner, folded)
  if (row !== null && isLive(row)) return [toFile(prefix, row)]
  const rows = parts.length === 0 ? await selectAll(owner) : await selectBelow(owner, `${folded}/`)
  const entries = listEntries(prefix, parts, rows)
  const isRoot = parts.length === 0 || (parts.length === 1 && ROOTS.some((root) => root === folded))
  if (!isRoot && entries.length === 0) throw notFound(`There is no folder '${parts.join('/').slice(0, 200)}'`)
  return depth === 0 ? [toFolder(prefix, parts)] : [toFolder(prefix, parts), ...entries]
}
