import { readFile, writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { stemOf } from '../../core/files/stem-of.ts'
import { categoryOf } from '../entries/categories.ts'
import type { Entry, EntryFile } from '../entries/entries.ts'
import { ArchiveRefusedError } from './archive-in-thread.ts'
import { type Step, isPlaylist, isSheet } from './formats.ts'
import type { FileMaker } from './file-maker.ts'
import { renameInPlaylist, toBytes } from './sheets.ts'
import { readFacts, makeFolder, syncPath } from './work-folder.ts'

/** A new file in a staging folder. */
export interface StagedFile {
  file: EntryFile
  /** True if the new file replaces one of the same name. */
  replaces: boolean
}

/** A ROM after its conversion. */
export interface Staging {
  fs_name: string
  kind: Entry['kind']
  staged: StagedFile[]
  /** The files that are deleted. */
  deletedFiles: EntryFile[]
}

/** The site of a conversion: the ROM's platform, its folder relative to the library, and the staging folder. */
export interface StagingLocation { slug: string, fs_path: string, work: string }

type EntryLocation = Pick<EntryFile, 'file_name' | 'file_path' | 'is_top_level' | 'category'>

/** Stages one file; syncs it to disk, because the original is deleted later. */
async function stageOne (path: string, location: EntryLocation, replaces = false): Promise<StagedFile> {
  await syncPath(path)
  const { inode, size, mtime } = await readFacts(path)
  const { file_name: name, file_path: folder, is_top_level: isTop, category } = location
  return {
    file: {
      file_name: name, file_path: folder, absolute_path: path, file_size_bytes: size, mtime, inode, is_top_level: isTop,
      category
    },
    replaces
  }
}

function locateInFolder (folder: string, name: string): EntryLocation {
  const below = posix.dirname(name).split('/').filter((part) => part !== '.')
  return {
    file_name: posix.basename(name), file_path: [folder, ...below].join('/'), is_top_level: below.length === 0,
    category: categoryOf(below)
  }
}

/** Sorts files: those at the top of a ROM's folder first, by the bytes of their names. */
const inOrder = (files: readonly StagedFile[]) => files.toSorted(({ file: a }, { file: b }) =>
  Number(b.is_top_level) - Number(a.is_top_level) || Buffer.compare(Buffer.from(a.file_name), Buffer.from(b.file_name)))

/**
 * Stages the result of a single file. One file keeps the ROM's name, whatever its path in the archive; several need a
 * folder.
 */
async function stageFile (step: Step, names: readonly string[], folder: string, fsPath: string): Promise<Staging> {
  const stem = stemOf(step.main.file_name)
  const [only, ...others] = names
  if (only !== undefined && others.length === 0) {
    const name = `${stem}${posix.extname(only)}`
    const file = await stageOne(join(folder, only), { ...step.main, file_name: name })
    return { fs_name: name, kind: 'file', staged: [file], deletedFiles: step.sources }
  }
  const staged: StagedFile[] = []
  for (const name of names) staged.push(await stageOne(join(folder, name), locateInFolder(`${fsPath}/${stem}`, name)))
  return { fs_name: stem, kind: 'folder', staged: inOrder(staged), deletedFiles: step.sources }
}

/** Returns the file that represents a result in playlists: the only one, or the sheet of a disc. */
function chooseFirst ({ main }: Step, names: readonly string[]): string {
  const [first, ...others] = names.length > 1 ? names.filter(isSheet) : names
  if (first !== undefined && others.length === 0 && !first.includes('/')) return first
  throw new ArchiveRefusedError(`'${main.file_name}' contains several files and is already in a folder; unpack it yourself`)
}

async function stagePlaylists (
  entry: Entry, renamed: ReadonlyMap<string, ReadonlyMap<string, string>>, work: string
): Promise<StagedFile[]> {
  const staged: StagedFile[] = []
  for (const playlist of entry.files.filter((file) => isPlaylist(file.file_name))) {
    const names = renamed.get(playlist.file_path)
    const text = (await readFile(playlist.absolute_path)).toString('latin1')
    const changed = names === undefined ? text : renameInPlaylist(text, names)
    if (changed === text) continue
    const path = join(await makeFolder(work, `playlist-${staged.length}`), playlist.file_name)
    await writeFile(path, Buffer.from(changed, 'latin1'), { flag: 'wx' })
    staged.push(await stageOne(path, playlist, true))
  }
  return staged
}

/** Runs all steps of a ROM in its staging folder. The library stays untouched. */
export async function stageFiles (
  entry: Entry, steps: readonly Step[], { slug, fs_path: fsPath, work }: StagingLocation, make: FileMaker
): Promise<Staging> {
  const staged: StagedFile[] = []
  const renamed = new Map<string, Map<string, string>>()
  for (const [index, step] of steps.entries()) {
    const folder = await makeFolder(work, String(index))
    const names = await make(step, slug, folder)
    if (entry.kind === 'file') return await stageFile(step, names, folder, fsPath)
    const inPlace = renamed.get(step.main.file_path) ?? new Map<string, string>()
    renamed.set(step.main.file_path, inPlace.set(toBytes(step.main.file_name), toBytes(chooseFirst(step, names))))
    for (const name of names) staged.push(await stageOne(join(folder, name), { ...step.main, file_name: name }))
  }
  const playlists = await stagePlaylists(entry, renamed, work)
  return {
    fs_name: entry.fs_name, kind: 'folder', staged: [...staged, ...playlists], deletedFiles: steps.flatMap((step) => step.sources)
  }
}

/** Returns the ROM's files after the change, including those that stay, in the order of scans. */
export function toEntry (entry: Entry, { fs_name: name, kind, staged, deletedFiles }: Staging): Entry {
  const replaced = new Set(staged.map(({ file }) => `${file.file_path}/${file.file_name}`))
  const deletedPaths = new Set(deletedFiles)
  const remaining = entry.files.filter((file) => !deletedPaths.has(file) && !replaced.has(`${file.file_path}/${file.file_name}`))
  const files = inOrder([...remaining.map((file) => ({ file, replaces: false })), ...staged]).map(({ file }) => file)
  return { fs_name: name, kind, files, problems: [] }
}
