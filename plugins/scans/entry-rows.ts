import type { Entry, EntryFile } from '../entries/entries.ts'
import { nameSortKey, parseName } from '../library/names.ts'
import { type EntryHashes, pathOf } from '../hashing/hash-entry.ts'
import type { FileRow } from './file-rows.ts'
import type { StoredFile } from './rom-rows.ts'
import type { RomRow } from './rom-write-rows.ts'

/** An entry whose files were read. */
export interface HashedEntry { entry: Entry, hashes: EntryHashes }

export function toFileRows ({ entry, hashes }: HashedEntry): FileRow[] {
  const warned = new Set(hashes.warnings.map(({ path }) => path))
  return entry.files.map((file, index) => {
    const hash = hashes.files[index] ?? null
    const isUnread = hash === null && warned.has(pathOf(file))
    return {
      file_name: file.file_name,
      file_path: file.file_path,
      file_size_bytes: file.file_size_bytes,
      last_modified: Math.round(file.mtime),
      // Without an inode the file counts as changed, and the next scan tries to read it again.
      inode: isUnread ? '' : file.inode,
      is_top_level: file.is_top_level,
      category: file.category,
      crc_hash: hash?.crc_hash ?? '',
      md5_hash: hash?.md5_hash ?? '',
      sha1_hash: hash?.sha1_hash ?? '',
      ra_hash: hashes.ra?.file === file ? hashes.ra.hash : null,
      chd_sha1_hash: hash?.chd_sha1_hash ?? null,
      archive_members: hash?.archive_members ?? null
    }
  })
}

/**
 * @param folder the platform folder, relative to the library
 * @param target the row to write
 */
export function toRomRow (
  { entry, hashes }: HashedEntry, folder: string, target: Pick<RomRow, 'id' | 'stored_name' | 'writes_tags'>
): RomRow {
  const isFolder = entry.kind === 'folder'
  const name = parseName(entry.fs_name, { isFolder })
  const top = entry.files.filter((file) => file.is_top_level)
  const { crc_hash: crc, md5_hash: md5, sha1_hash: sha1 } = hashes.rom
  return {
    ...target,
    fs_name: entry.fs_name,
    fs_path: folder,
    fs_extension: name.fs_extension,
    fs_name_no_tags: name.fs_name_no_tags,
    fs_name_no_ext: name.fs_name_no_ext,
    fs_size_bytes: entry.files.reduce((sum, file) => sum + file.file_size_bytes, 0),
    is_folder: isFolder,
    has_nested_single_file: isFolder && top.length === 1,
    has_multiple_files: isFolder && top.length > 1,
    has_soundtrack: entry.files.some((file) => file.category === 'soundtrack'),
    crc_hash: crc,
    md5_hash: md5,
    sha1_hash: sha1,
    ra_hash: hashes.ra?.hash ?? null,
    regions: name.regions,
    languages: name.languages,
    tags: name.tags,
    revision: name.revision,
    version: name.version,
    name_sort_key: nameSortKey(name.fs_name_no_tags)
  }
}

const isSame = (file: EntryFile, known: StoredFile | undefined) => known !== undefined &&
  known.file_size_bytes === file.file_size_bytes && known.inode === file.inode &&
  known.last_modified === Math.round(file.mtime)

/** True if the files on disk equal the stored ones by name, size, time and inode; no content is read. */
export function isUnchanged (entry: Entry, stored: readonly StoredFile[]): boolean {
  if (stored.length !== entry.files.length) return false
  const [onlyFile] = stored
  const [file] = entry.files
  if (stored.length === 1 && onlyFile !== undefined && file !== undefined) {
    return onlyFile.file_name === file.file_name && onlyFile.file_path === file.file_path && isSame(file, onlyFile)
  }
  const byPath = new Map(stored.map((one) => [`${one.file_path}/${one.file_name}`, one]))
  return entry.files.every((one) => isSame(one, byPath.get(pathOf(one))))
}
