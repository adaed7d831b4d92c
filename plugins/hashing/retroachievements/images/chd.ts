// Metadata: https://github.com/mamedev/mame/blob/master/src/lib/util/cdrom.cpp
import { openChdFile, type Chd } from './chd-reads.ts'
import type { FileReads } from './file-reads.ts'
import {
  CONTENT_BYTES, COOKED, DESCRIPTOR, openTrack, RAW_BYTES, SYNC,
  type Disc, type SectorShape, type Track, type TrackChoice
} from './tracks.ts'

interface ChdTrack {
  readonly number: number
  readonly kind: string
  readonly sectors: number
  /** Sectors before the first index that are stored with the track. */
  readonly pregap: number
  /** The address of its first sector on the disc. */
  readonly address: number
  /** The first sector in the file, where each track fills up to a multiple of four sectors. */
  readonly frame: number
}

const TRACK_TAGS = new Set(['CHTR', 'CHT2', 'CHGD'])
const DVD_TAG = 'DVD '
const TRACK_PADDING = 4
const STORED_PREGAP = 'V'

/** Opens a disc in a CHD. @throws ArchiveError */
export function openChd (file: FileReads): Disc {
  const chd = openChdFile(file)
  const tracks = readTracks(chd)
  return {
    track (choice) {
      const track = chooseTrack(tracks, choice)
      return track === undefined ? null : openChdTrack(chd, track)
    },
    close () {}
  }
}

function readTracks ({ metadata, size, unitBytes }: Chd): ChdTrack[] {
  if (metadata.some(({ tag }) => tag === DVD_TAG)) {
    const sectors = Math.floor(size / (unitBytes || CONTENT_BYTES))
    return [{ number: 1, kind: 'MODE1', sectors, pregap: 0, address: 0, frame: 0 }]
  }
  let address = 0
  let frame = 0
  return metadata.filter(({ tag }) => TRACK_TAGS.has(tag)).map(({ text }) => {
    const fields = new Map(text.trim().split(/\s+/).map((field): [string, string] => {
      const [name = '', value = ''] = field.split(':')
      return [name, value]
    }))
    const sectors = Number(fields.get('FRAMES') ?? 0)
    const pregap = fields.get('PGTYPE')?.startsWith(STORED_PREGAP) ? Number(fields.get('PREGAP') ?? 0) : 0
    const track = { number: Number(fields.get('TRACK')), kind: fields.get('TYPE') ?? '', sectors, pregap, address, frame }
    address += sectors
    frame += Math.ceil(sectors / TRACK_PADDING) * TRACK_PADDING
    return track
  })
}

const isData = ({ kind }: ChdTrack) => kind !== 'AUDIO'

function chooseTrack (tracks: readonly ChdTrack[], choice: TrackChoice): ChdTrack | undefined {
  switch (choice) {
    case 'first-data': return tracks.find(isData)
    case 'largest-data': return tracks.filter(isData).toSorted((a, b) => b.sectors - a.sectors)[0]
    case 'last': return tracks.at(-1)
    // A CHD does not store sessions; the first session of such discs is a single track.
    case 'second-session': return tracks.find(({ number }) => number === 2)
    default: return tracks.find(({ number }) => number === choice)
  }
}

function openChdTrack (chd: Chd, track: ChdTrack): Track {
  const { address, frame, pregap, sectors } = track
  const opened = openTrack(chd, {
    ...shapeOf(chd, track), sectorBytes: chd.unitBytes, address, pregap, offset: frame * chd.unitBytes
  })
  return {
    firstSector: opened.firstSector,
    read: (sector, length) => sector < address + sectors ? opened.read(sector, length) : Buffer.alloc(0)
  }
}

/**
 * Finds the shape of sectors. The kind of a track does not tell the size of their headers, the first descriptor does.
 */
function shapeOf (chd: Chd, { kind, frame, pregap }: ChdTrack): Omit<SectorShape, 'sectorBytes'> {
  if (kind === 'AUDIO') return { headerBytes: 0, contentBytes: RAW_BYTES }
  if (kind === 'MODE1') return COOKED
  if (kind === 'MODE1_RAW') return { headerBytes: 16, contentBytes: CONTENT_BYTES }
  const sector = chd.read((frame + pregap + DESCRIPTOR.sector) * chd.unitBytes, RAW_BYTES)
  const headerBytes = [24, 16, 8, 0].find((bytes) =>
    sector.toString('latin1', bytes + 1, bytes + 1 + DESCRIPTOR.mark.length) === DESCRIPTOR.mark)
  if (headerBytes !== undefined) return { headerBytes, contentBytes: CONTENT_BYTES }
  return { headerBytes: sector.subarray(0, SYNC.length).equals(SYNC) ? 16 : 0, contentBytes: CONTENT_BYTES }
}
