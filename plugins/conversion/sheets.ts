import { open } from 'node:fs/promises'
import { posix } from 'node:path'
import { parseCue, parseGdi, type Sheet } from '../hashing/disc-sheets.ts'
import { extensionOf, isPlaylist } from './formats.ts'

/** The largest sheet; one of 99 tracks has some 10 kB. */
const TEXT_BYTES_MAX = 1024 ** 2
/** Commands of a cue sheet that a CHD stores, or that only matter in the sheet's text. */
const STORED_COMMANDS = new Set(['FILE', 'TRACK', 'INDEX', 'PREGAP', 'REM', 'TITLE', 'PERFORMER', 'SONGWRITER'])
const FILE_LINE = /^FILE\s+(?:"[^"]*"|\S+)\s+(\S+)/i
const OTHER_SESSION = /^REM\s+(?:SESSION\s+0*(?:[2-9]|[1-9]\d)|(?:SINGLE|HIGH)-DENSITY)\b/i
const LATER_INDEX = /^INDEX\s+0*(?:[2-9]|[1-9]\d)\b/i

/** Returns bytes as characters, because names are compared with those on disk in any encoding. */
export const toBytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1')

/** Reads a sheet or playlist, one character for each byte; null if it is too large to be one. */
export async function readText (path: string): Promise<string | null> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    return size > TEXT_BYTES_MAX ? null : (await handle.readFile()).toString('latin1')
  } finally {
    await handle.close()
  }
}

const linesOf = (text: string) => text.split(/\r?\n|\r/).map((line) => line.trim()).filter((line) => line !== '')
/** Removes the byte order mark, which some editors write. */
const withoutMark = (text: string) => text.replace(/^\u00ef\u00bb\u00bf/, '')

function parse (name: string, text: string): Sheet {
  return extensionOf(name) === 'gdi' ? parseGdi(text) : parseCue(withoutMark(text))
}

/** Lists the paths in a playlist, as bytes. */
export function listPaths (text: string): string[] {
  const lines = linesOf(withoutMark(text)).filter((line) => !line.startsWith('#'))
  return lines.map((line) => posix.normalize(line.replaceAll('\\', '/')))
}

/** Lists the names in a playlist or sheet, as bytes, without folders. */
export function listNames (name: string, text: string): string[] {
  if (isPlaylist(name)) return listPaths(text).map((path) => posix.basename(path))
  return [...new Set(parse(name, text).map((track) => track.file))]
}

/** Returns the part of a cue sheet that a conversion and back would lose; null if there is none. */
export function findLoss (text: string): string | null {
  for (const line of linesOf(withoutMark(text))) {
    const [command = ''] = line.split(/\s+/)
    if (!STORED_COMMANDS.has(command.toUpperCase())) return `a CHD cannot store ${command.toUpperCase()}`
    if (LATER_INDEX.test(line)) return 'a CHD cannot store an index after the first'
    if (OTHER_SESSION.test(line)) return 'a CHD can store only one session'
    const kind = FILE_LINE.exec(line)?.[1]
    if (kind !== undefined && kind.toUpperCase() !== 'BINARY') return `its tracks are ${kind}, not BINARY`
  }
  return null
}

const sectorBytes = (mode: string) => Number(/\/(\d+)$/.exec(mode)?.[1] ?? (mode === 'CDG' ? 2448 : 2352))

/** Returns the number of sectors in a file; null if its tracks are of several kinds. */
function countSectors (tracks: Sheet, size: number): number | null {
  const bytes = new Set(tracks.map((track) => sectorBytes(track.mode)))
  const [only] = bytes
  return only !== undefined && bytes.size === 1 && size % only === 0 ? size / only : null
}

/**
 * Describes where the tracks of a disc begin, independent of their files: equal for equal discs. Null if unknown.
 *
 * @param sizes the sizes of its files, by name
 */
export function describeLayout (name: string, text: string, sizes: ReadonlyMap<string, number>): string | null {
  const tracks = parse(name, text)
  const pregaps = linesOf(text).filter((line) => /^PREGAP\s/i.test(line)).map((line) => line.split(/\s+/)[1])
  const byFile = Map.groupBy(tracks, (track) => track.file)
  let base = 0
  const lines: string[] = []
  for (const [index, [file, ofFile]] of [...byFile].entries()) {
    for (const { number, mode, first, pregap, address } of ofFile) {
      lines.push([number, mode, address ?? base + first, pregap].join(' '))
    }
    const sectors = countSectors(ofFile, sizes.get(file) ?? 0)
    if (sectors === null && index < byFile.size - 1) return null
    base += sectors ?? 0
  }
  return lines.length === 0 ? null : [...lines, ...pregaps].join('\n')
}

/** Replaces names in the text of a playlist; returns the same text if it contains none of them. */
export function renameInPlaylist (text: string, names: ReadonlyMap<string, string>): string {
  return text.split(/(\r?\n|\r)/).map((line) => {
    const trimmed = line.trim()
    const renamed = trimmed.startsWith('#') ? undefined : names.get(posix.basename(trimmed))
    if (renamed === undefined) return line
    return line.replace(trimmed, () => trimmed.slice(0, trimmed.length - posix.basename(trimmed).length) + renamed)
  }).join('')
}
