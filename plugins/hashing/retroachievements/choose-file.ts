import { formatOf } from '../../../core/archives/formats.ts'
import { ruleOf, WINDOWS } from './consoles.ts'

/** The facts of a file by which it is chosen. */
export interface Candidate {
  readonly file_name: string
  readonly file_size_bytes: number
  readonly category: string | null
}

/** A cue sheet names the tracks of the other files; a playlist stands for its first disc. */
const DESCRIPTORS = ['.cue', '.gdi', '.m3u']

/** Returns the index of the file that represents an entry; null if no file can. */
export function chooseFile (kind: 'file' | 'folder', files: readonly Candidate[], console: number): number | null {
  if (kind === 'file' && console === WINDOWS) return null
  const takesArchives = ruleOf(console) !== 'disc'
  const readable = files.filter((file) => takesArchives || !isArchive(file))
  if (kind === 'file') return indexOf(files, readable[0])
  const games = readable.filter(({ category }) => category === null || category === 'game')
  return indexOf(files, chooseIn(games.length > 0 ? games : readable))
}

function chooseIn (files: readonly Candidate[]): Candidate | undefined {
  const ending = (suffix: string) => files.filter((file) => hasEnding(file, suffix))
  const groups = [ending('.chd'), files.filter(isArchive), ...DESCRIPTORS.map(ending), files]
  return largest(groups.find((group) => group.length > 0) ?? [])
}

/** Returns the largest file, the first one among equals. */
function largest (files: readonly Candidate[]): Candidate | undefined {
  return files.toSorted((a, b) => b.file_size_bytes - a.file_size_bytes)[0]
}

function indexOf (files: readonly Candidate[], file: Candidate | undefined): number | null {
  return file === undefined ? null : files.indexOf(file)
}

const hasEnding = ({ file_name: name }: Candidate, suffix: string) => name.toLowerCase().endsWith(suffix)

const isArchive = ({ file_name: name }: Candidate) => formatOf(name).kind !== 'plain'
