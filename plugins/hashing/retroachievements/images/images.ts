import { dirname, extname } from 'node:path'
import { PathRefusedError, resolveInside } from '../../../../core/files/safe-path.ts'
import { ArchiveError, type Budget } from '../../../../core/archives/limits.ts'
import { closeSource, openSource, readUpTo, type Source } from '../../../../core/archives/source.ts'
import { openChd } from './chd.ts'
import { openCompressedIso } from './compressed-iso.ts'
import { type FileReads, readsOf } from './file-reads.ts'
import { parseCue, parseGdi, type Sheet, type SheetTrack } from '../../disc-sheets.ts'
import { type Disc, findLayout, openTrack, type Track, type TrackChoice } from './tracks.ts'

/**
 * The largest sheet or playlist. A sheet has some lines for each of at most 99 tracks; a playlist as many lines as
 * discs.
 */
const MAX_SHEET_BYTES = 1024 ** 2

/** Opens the disc in a file, with the tracks that a sheet names. @throws ArchiveError */
export async function openDisc (path: string, source: Source, budget: Budget): Promise<Disc> {
  switch (extname(path).toLowerCase()) {
    case '.cue': return await openSheet(path, parseCue(readText(source)), budget)
    case '.gdi': return await openSheet(path, parseGdi(readText(source)), budget)
    case '.chd': return openChd(readsOf(source, budget))
    case '.cso': case '.ciso': case '.zso': case '.dax': return openImage(openCompressedIso(readsOf(source, budget)))
    default: return openImage(readsOf(source, budget))
  }
}

/** Reads the text of a sheet or playlist. @throws ArchiveError if it is too large */
export function readText (source: Source): string {
  if (source.size > MAX_SHEET_BYTES) throw new ArchiveError(`larger than ${MAX_SHEET_BYTES} bytes, so it is not a list of files`)
  return readUpTo(source, 0, source.size).toString('utf8')
}

/**
 * Resolves a file that another one names, in the same folder or below it. @throws ArchiveError if it leads out of
 * there.
 */
export async function resolveBeside (path: string, name: string): Promise<string> {
  try {
    return await resolveInside(dirname(path), name.replaceAll('\\', '/'))
  } catch (error) {
    if (!(error instanceof PathRefusedError)) throw error
    throw new ArchiveError(`it names '${name}': ${error.message}`, { cause: error })
  }
}

/** Opens a file that is a single track. */
function openImage (file: FileReads): Disc {
  return {
    track (choice) {
      if (typeof choice === 'number' && choice > 1) return null
      const layout = findLayout(file, { offset: 0, address: 0, pregap: 0 }, null)
      return layout === null ? null : openTrack(file, layout)
    },
    close () {}
  }
}

interface LocatedTrack extends SheetTrack {
  readonly source: FileReads
  readonly offset: number
  readonly address: number
  readonly sectors: number
}

async function openSheet (path: string, sheet: Sheet, budget: Budget): Promise<Disc> {
  const sources = new Map<string, Source>()
  const close = () => { for (const source of sources.values()) closeSource(source) }
  try {
    for (const { file } of sheet) {
      if (!sources.has(file)) sources.set(file, openSource(await resolveBeside(path, file)))
    }
  } catch (error) {
    close()
    throw error
  }
  const tracks = locateTracks(sheet, sources, budget)
  return { track: (choice) => openLocated(chooseTrack(tracks, choice)), close }
}

/** Computes the positions of tracks in their files and on the disc. Tracks follow one another, and so do files. */
function locateTracks (sheet: Sheet, sources: ReadonlyMap<string, Source>, budget: Budget): LocatedTrack[] {
  let offset = 0
  let base = 0
  return sheet.flatMap((track, index) => {
    const source = sources.get(track.file)
    if (source === undefined) return []
    const before = sheet[index - 1]
    const after = sheet[index + 1]
    if (before?.file !== track.file) offset = 0
    const end = after?.file === track.file ? after.first : Math.floor(source.size / sectorBytesOf(track))
    const sectors = end - track.first
    const address = track.address ?? base + track.first
    const located = { ...track, source: readsOf(source, budget), offset, address, sectors }
    offset += sectors * sectorBytesOf(track)
    if (after?.file !== track.file) base += end
    return [located]
  })
}

const isData = ({ mode }: SheetTrack) => mode.startsWith('MODE')

function sectorBytesOf ({ mode }: SheetTrack): number {
  return Number(/^MODE\d\/(\d{4})$/.exec(mode)?.[1] ?? 2352)
}

function chooseTrack (tracks: readonly LocatedTrack[], choice: TrackChoice): LocatedTrack | undefined {
  switch (choice) {
    case 'first-data': return tracks.find(isData)
    case 'largest-data': return tracks.filter(isData).toSorted((a, b) => b.sectors - a.sectors)[0]
    case 'last': return tracks.at(-1)
    case 'second-session': return tracks.find(({ session }) => session === 2)
    default: return tracks.find(({ number }) => number === choice)
  }
}

function openLocated (track: LocatedTrack | undefined): Track | null {
  if (track === undefined) return null
  const { source, offset, address, pregap, mode } = track
  const layout = findLayout(source, { offset, address, pregap }, mode)
  return layout === null ? null : openTrack(source, layout)
}
