// Formats: https://www.gnu.org/software/ccd2cue/manual/html_node/CUE-sheet-format.html and the .gdi of GD-ROM dumps

/** A track as a sheet describes it; positions and lengths are numbers of sectors. */
export interface SheetTrack {
  readonly number: number
  /** The file name as the sheet writes it. */
  readonly file: string
  /** `AUDIO`, `MODE1/2352`, … */
  readonly mode: string
  readonly session: number
  /** The start of the track in its file, including the sectors before its first index. */
  readonly first: number
  /** The number of sectors before its first index. */
  readonly pregap: number
  /** The address of its first sector on the disc; null when it follows from the tracks before. */
  readonly address: number | null
}

export type Sheet = readonly SheetTrack[]

const FILE = /^FILE\s+(?:"([^"]*)"|(\S+))/i
const TRACK = /^TRACK\s+(\d+)\s+(\S+)/i
const INDEX = /^INDEX\s+(\d+)\s+(\d+):(\d+):(\d+)/i
const SESSION = /^REM\s+SESSION\s+(\d+)/i
const FRAMES_PER_SECOND = 75

export function parseCue (text: string): Sheet {
  const tracks: SheetTrack[] = []
  let file = ''
  let session = 1
  let track: { number: number, mode: string } | null = null
  let first: number | null = null
  for (const line of text.split(/\r?\n/)) {
    const words = line.trim()
    const named = FILE.exec(words)
    if (named) file = named[1] ?? named[2] ?? ''
    session = Number(SESSION.exec(words)?.[1] ?? session)
    const opened = TRACK.exec(words)
    if (opened) {
      track = { number: Number(opened[1]), mode: (opened[2] ?? '').toUpperCase() }
      first = null
    }
    const [, index, minutes, seconds, frames] = INDEX.exec(words) ?? []
    if (index === undefined || track === null) continue
    const at = (Number(minutes) * 60 + Number(seconds)) * FRAMES_PER_SECOND + Number(frames)
    first ??= at
    if (Number(index) === 1) tracks.push({ ...track, file, session, first, pregap: at - first, address: null })
  }
  return tracks
}

const GDI_LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(?:"([^"]*)"|(\S+))/
const GDI_DATA = '4'

/**
 * Parses a GDI sheet. The first line counts the others, one for each track: number, address, kind, bytes of a sector,
 * file, offset.
 */
export function parseGdi (text: string): Sheet {
  return text.split(/\r?\n/).slice(1).flatMap((line) => {
    const [found, number, address, kind, sectorBytes, quoted, bare] = GDI_LINE.exec(line) ?? []
    if (found === undefined) return []
    return [{
      number: Number(number),
      file: quoted ?? bare ?? '',
      mode: kind === GDI_DATA ? `MODE1/${sectorBytes}` : 'AUDIO',
      session: 1,
      first: 0,
      pregap: 0,
      address: Number(address)
    }]
  })
}

/** Returns the first file that a playlist names; null if there is none. */
export function firstOfPlaylist (text: string): string | null {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/).map((line) => line.trim())
  return lines.find((line) => line !== '' && !line.startsWith('#')) ?? null
}
