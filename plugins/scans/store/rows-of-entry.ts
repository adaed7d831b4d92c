import { adviceOf } from '../../library/directory.ts'
import type { FileHashes, Hasher } from '../hashing/hasher.ts'
import type { Entry, EntryFile } from '../../library/entries.ts'
import { errorCode } from '../../../core/files/fs-error.ts'
import { nameSortKey, parseName } from '../../library/names.ts'
import type { FileRow, RomRow, StoredFile } from './rom-rows.ts'

/** Hashes of one entry: of each file, and of the ROM as a whole. */
export interface EntryHashes {
  files: (FileHashes | null)[]
  rom: Pick<RomRow, 'crc_hash' | 'md5_hash' | 'sha1_hash'>
  /** What RetroAchievements knows the ROM by, and which of the files that is the hash of. */
  ra: { hash: string, file: EntryFile } | null
  /** Why a file could not be hashed as its kind would have it. */
  warnings: { path: string, reason: string }[]
}

const NO_HASHES = { crc_hash: '', md5_hash: '', sha1_hash: '' }

export const unhashed = (entry: Entry): EntryHashes =>
  ({ files: entry.files.map(() => null), rom: NO_HASHES, ra: null, warnings: [] })

export const pathOf = (file: EntryFile) => `${file.file_path}/${file.file_name}`

const describe = (err: Error) => errorCode(err) === '' ? err.message : adviceOf(err)

function warningsOf (files: readonly EntryFile[], hashes: readonly (FileHashes | Error)[]): EntryHashes['warnings'] {
  return hashes.flatMap((hash, index) => {
    const file = files[index]
    const reason = hash instanceof Error ? `not hashed: ${describe(hash)}` : hash.warning
    return file === undefined || reason === undefined ? [] : [{ path: pathOf(file), reason }]
  })
}

/** A folder's ROM hash runs over its top-level files alone. */
async function hashFolder (entry: Entry, hasher: Hasher, signal: AbortSignal): Promise<EntryHashes> {
  const top = entry.files.filter((file) => file.is_top_level)
  const deep = entry.files.filter((file) => !file.is_top_level)
  const hashAll = async (files: EntryFile[]) => files.length === 0
    ? { files: [], combined: NO_HASHES }
    : await hasher.hashGroup(files.map((file) => file.absolute_path), { signal })
  const [topGroup, deepGroup] = await Promise.all([hashAll(top), hashAll(deep)])
  const hashes = new Map<EntryFile, FileHashes | Error>()
  top.forEach((file, index) => { hashes.set(file, topGroup.files[index] ?? new Error('it was not read')) })
  deep.forEach((file, index) => { hashes.set(file, deepGroup.files[index] ?? new Error('it was not read')) })
  const inOrder = entry.files.map((file) => hashes.get(file) ?? new Error('it was not read'))
  return {
    files: inOrder.map((hash) => hash instanceof Error ? null : hash),
    rom: topGroup.combined,
    ra: null,
    warnings: warningsOf(entry.files, inOrder)
  }
}

/**
 * Reads an entry's files once; with a console a single file is also hashed by the rule of that. A file that cannot be
 * read has no hashes and a warning.
 */
export async function hashEntry (
  entry: Entry, console: number | undefined, hasher: Hasher, signal: AbortSignal
): Promise<EntryHashes> {
  if (entry.kind === 'folder') return await hashFolder(entry, hasher, signal)
  const options = { signal, ...(console === undefined ? {} : { console }) }
  const hashes = await Promise.all(entry.files.map((file) =>
    hasher.hashFile(file.absolute_path, options).catch((err: unknown) => {
      signal.throwIfAborted()
      return err instanceof Error ? err : new Error(String(err))
    })))
  const [first] = hashes
  return {
    files: hashes.map((hash) => hash instanceof Error ? null : hash),
    rom: first === undefined || first instanceof Error ? NO_HASHES : first,
    ra: null,
    warnings: warningsOf(entry.files, hashes)
  }
}

export function toFileRows (entry: Entry, hashes: EntryHashes): FileRow[] {
  const warned = new Set(hashes.warnings.map(({ path }) => path))
  return entry.files.map((file, index) => {
    const hash = hashes.files[index] ?? null
    const isUnread = hash === null && warned.has(pathOf(file))
    return {
      file_name: file.file_name,
      file_path: file.file_path,
      file_size_bytes: file.file_size_bytes,
      last_modified: Math.round(file.mtime),
      // Without it the file counts as changed, so that the next scan tries to read it again.
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

export function toRomRow (
  entry: Entry, folder: string, hashes: EntryHashes, id: number | null, writesTags: boolean
): RomRow {
  const isFolder = entry.kind === 'folder'
  const name = parseName(entry.fs_name, { isFolder })
  const top = entry.files.filter((file) => file.is_top_level)
  const { crc_hash: crc, md5_hash: md5, sha1_hash: sha1 } = hashes.rom
  return {
    id,
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
    name_sort_key: nameSortKey(name.fs_name_no_tags),
    writes_tags: writesTags
  }
}

const isSame = (file: EntryFile, known: StoredFile | undefined) => known !== undefined &&
  known.file_size_bytes === file.file_size_bytes && known.inode === file.inode &&
  known.last_modified === Math.round(file.mtime)

/** Whether the files on disk are those that are stored, by name, size, time and inode; no content is read. */
export function isUnchanged (entry: Entry, stored: readonly StoredFile[]): boolean {
  if (stored.length !== entry.files.length) return false
  const [only] = stored
  const [file] = entry.files
  if (stored.length === 1 && only !== undefined && file !== undefined) {
    return only.file_name === file.file_name && only.file_path === file.file_path && isSame(file, only)
  }
  const byPath = new Map(stored.map((one) => [`${one.file_path}/${one.file_name}`, one]))
  return entry.files.every((one) => isSame(one, byPath.get(pathOf(one))))
}
