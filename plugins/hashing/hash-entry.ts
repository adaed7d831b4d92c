import type { Hashes } from '../../core/archives/types.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { adviceOf } from '../library/directory.ts'
import type { Entry, EntryFile } from '../entries/entries.ts'
import type { FileHashes, Hasher } from './hasher.ts'

/** The hashes of one entry: of each file, and of the ROM as a whole. */
export interface EntryHashes {
  files: (FileHashes | null)[]
  rom: Hashes
  /** The hash of the ROM at RetroAchievements, and the file it belongs to. */
  ra: { hash: string, file: EntryFile } | null
  /** Problems of files that could not be hashed by the rule of their kind. */
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

/** Hashes a folder, whose ROM hash covers its top-level files alone. */
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
 * Reads an entry's files once; with a console, also hashes a single file by the rule of this console. A file that
 * cannot be read has no hashes and a warning.
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
