import { lstat, realpath } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { listEntries, type Entry, type EntryFile } from '../entries/entries.ts'
import { readLibraryDirectory } from '../library/directory.ts'
import type { ExclusionRules } from '../library/exclusions.ts'
import { ifPresent } from '../../core/files/fs-error.ts'
import { isInside } from '../../core/files/safe-path.ts'
import { pathOf } from '../hashing/hash-entry.ts'
import { type RomContext, isPlaylist, isSheet } from './formats.ts'
import { findLoss, listNames, listPaths, readText, toBytes } from './sheets.ts'

export interface Library { dir: string, rules: ExclusionRules }

const isNaming = (name: string) => isPlaylist(name) || isSheet(name)

/** The sheets and playlists of one folder, by the names in them, and its playlists by the paths in them. */
interface Naming { names: Map<string, string>, paths: Map<string, string> }

async function readNaming (files: readonly { name: string, path: string }[]): Promise<Naming> {
  const naming: Naming = { names: new Map(), paths: new Map() }
  for (const { name, path } of files.filter((file) => isNaming(file.name))) {
    const text = await readText(path) ?? ''
    for (const named of listNames(name, text)) naming.names.set(named, name)
    for (const named of isPlaylist(name) ? listPaths(text) : []) naming.paths.set(named, name)
  }
  return naming
}

async function findKind (path: string): Promise<'file' | 'folder' | null> {
  const stats = await ifPresent(lstat(path))
  return stats?.isFile() === true ? 'file' : stats?.isDirectory() === true ? 'folder' : null
}

/** Returns the reason against converting an entry: a link to another place, or an unread file; null for none. */
function checkEntry (entry: Entry, real: string): string | null {
  const [problem] = entry.problems
  if (problem !== undefined) return `'${problem.path}' was skipped: ${problem.reason}`
  const linked = entry.files.find((file) => !isInside(real, file.absolute_path))
  return linked === undefined ? null : `'${linked.file_name}' is a symbolic link`
}

async function readTracks (sheet: EntryFile, files: readonly EntryFile[]): ReturnType<RomContext['readTracks']> {
  const text = await readText(sheet.absolute_path)
  if (text === null) return { left: `'${sheet.file_name}' is too large to be a sheet` }
  const loss = sheet.file_name.toLowerCase().endsWith('.cue') ? findLoss(text) : null
  if (loss !== null) return { left: loss }
  const filesByName = new Map(files.filter((file) => file.file_path === sheet.file_path)
    .map((file) => [toBytes(file.file_name), file]))
  const names = listNames(sheet.file_name, text)
  const tracks = names.flatMap((name) => filesByName.get(name) ?? [])
  if (names.length > 0 && tracks.length === names.length) return { files: tracks }
  return { left: `a track that '${sheet.file_name}' names is not in the same folder` }
}

/** Reads the neighbours of ROM files; reads the folder of a platform once. */
export function createNeighbourFiles (library: Library) {
  const folders = new Map<string, Promise<Naming>>()

  async function readPlatformNaming (folder: string): Promise<Naming> {
    const path = join(library.dir, folder)
    const items = (await readLibraryDirectory(path)).filter(({ kind }) => kind === 'file')
    return await readNaming(items.map(({ name }) => ({ name, path: join(path, name) })))
  }

  function namingOf (folder: string): Promise<Naming> {
    const naming = folders.get(folder) ?? readPlatformNaming(folder)
    folders.set(folder, naming)
    return naming
  }

  return {
    /** Reads a ROM from disk, or returns why it cannot be converted. */
    async readEntry (folder: string, name: string): Promise<{ entry: Entry } | { left: string }> {
      const entryPath = join(await realpath(join(library.dir, folder)), name)
      const kind = await findKind(entryPath)
      if (kind === null) return { left: 'it is a symbolic link, or does not exist any more' }
      const items = [{ name, kind, isValid: true }]
      const listing = listEntries({ libraryDir: library.dir, folder, rules: library.rules, items })
      const [entry] = await Array.fromAsync(listing.entries)
      if (entry === undefined) return { left: 'scans skip it, or it is empty' }
      const reason = checkEntry(entry, entryPath)
      return reason === null ? { entry } : { left: reason }
    },

    async readContext (entry: Entry, folder: string, slug: string, to: RomContext['to']): Promise<RomContext> {
      const namings = new Map<string, Naming>()
      const beside = await namingOf(folder)
      for (const [path, files] of Map.groupBy(entry.files, (file) => file.file_path)) {
        const named = entry.kind === 'file'
          ? beside
          : await readNaming(files.map((file) => ({ name: file.file_name, path: file.absolute_path })))
        namings.set(path, named)
      }
      return {
        slug,
        to,
        findNaming: (file) => namings.get(file.file_path)?.names.get(toBytes(file.file_name)) ?? null,
        findOutside: (file) => beside.paths.get(toBytes(posix.relative(folder, pathOf(file)))) ?? null,
        readTracks: (sheet) => readTracks(sheet, entry.files)
      }
    }
  }
}
export type NeighbourFiles = ReturnType<typeof createNeighbourFiles>
