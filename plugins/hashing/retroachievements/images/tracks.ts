// Sectors: https://problemkaputt.de/psxspx-cdrom-format.htm
import type { FileReads } from './file-reads.ts'

/** A track of a disc image. */
export interface Track {
  /** The address of the first sector of its content. */
  readonly firstSector: number
  /** Reads up to `length` bytes of content from a sector on; fewer at the end of the track, none before its start. */
  read (sector: number, length: number): Buffer
}

/** The choice of a track: by number, by content, the last one, or the first of the second session. */
export type TrackChoice = number | 'first-data' | 'largest-data' | 'last' | 'second-session'

export interface Disc {
  /** Returns a track; null if there is none. */
  track (choice: TrackChoice): Track | null
  close (): void
}

/** The layout of a track's sectors in a file. */
export interface Layout {
  /** Bytes of the file before the track. */
  readonly offset: number
  /** The address of the sector at `offset`. */
  readonly address: number
  readonly pregap: number
  readonly sectorBytes: number
  /** Bytes of a sector before its content. */
  readonly headerBytes: number
  readonly contentBytes: number
}

export type SectorShape = Pick<Layout, 'sectorBytes' | 'headerBytes' | 'contentBytes'>

export const RAW_BYTES = 2352
export const CONTENT_BYTES = 2048
export const SYNC = Buffer.from('00ffffffffffffffffffff00', 'hex')
/** The mark in the first descriptor of ISO 9660, 16 sectors from the start of the content. */
export const DESCRIPTOR = { sector: 16, mark: 'CD001' }
const PROBE_BYTES = 32
const FORM_HEADER_BYTES = 24
const RAW_HEADER_BYTES = 16
/** The address two seconds after the start of a disc is 0. */
const LEAD_IN_SECTORS = 150

export const COOKED: SectorShape = { sectorBytes: CONTENT_BYTES, headerBytes: 0, contentBytes: CONTENT_BYTES }

const MODES: Record<string, SectorShape> = {
  'MODE1/2048': COOKED,
  'MODE1/2352': { sectorBytes: RAW_BYTES, headerBytes: RAW_HEADER_BYTES, contentBytes: CONTENT_BYTES },
  'MODE2/2336': { sectorBytes: 2336, headerBytes: 8, contentBytes: CONTENT_BYTES },
  'MODE2/2352': { sectorBytes: RAW_BYTES, headerBytes: FORM_HEADER_BYTES, contentBytes: CONTENT_BYTES },
  AUDIO: { sectorBytes: RAW_BYTES, headerBytes: 0, contentBytes: RAW_BYTES }
}

export function openTrack (file: FileReads, layout: Layout): Track {
  const { offset, address, pregap, sectorBytes, headerBytes, contentBytes } = layout
  return {
    firstSector: address + pregap,
    read (sector, length) {
      if (sector < address) return Buffer.alloc(0)
      const start = offset + (sector - address) * sectorBytes + headerBytes
      if (sectorBytes === contentBytes) return file.read(start, length)
      const sectors = Math.ceil(length / contentBytes)
      const bytes = file.read(start, sectors * sectorBytes - headerBytes)
      const pieces = Array.from({ length: sectors }, (_none, index) => {
        const from = index * sectorBytes
        return bytes.subarray(from, from + Math.min(contentBytes, length - index * contentBytes))
      })
      return Buffer.concat(pieces)
    }
  }
}

/** Finds the shape of the sectors in the file itself, because sheets have errors; otherwise takes that of the sheet. */
export function findLayout (
  file: FileReads, start: Pick<Layout, 'offset' | 'address' | 'pregap'>, mode: string | null
): Layout | null {
  const probe = DESCRIPTOR.sector + start.pregap
  for (const sectorBytes of [RAW_BYTES, 2336]) {
    const header = file.read(start.offset + probe * sectorBytes, PROBE_BYTES)
    if (header.length < PROBE_BYTES || !header.subarray(0, SYNC.length).equals(SYNC)) continue
    const headerBytes = hasMark(header, FORM_HEADER_BYTES) ? FORM_HEADER_BYTES : RAW_HEADER_BYTES
    return { ...start, address: addressOf(header) - probe, sectorBytes, headerBytes, contentBytes: CONTENT_BYTES }
  }
  if (hasMark(file.read(start.offset + probe * CONTENT_BYTES, PROBE_BYTES), 0)) return { ...start, ...COOKED }
  const shape = mode === null ? shapeOfSize(file.size) : MODES[mode]
  return shape === undefined ? null : { ...start, ...shape }
}

function hasMark (sector: Buffer, headerBytes: number): boolean {
  return sector.toString('latin1', headerBytes + 1, headerBytes + 1 + DESCRIPTOR.mark.length) === DESCRIPTOR.mark
}

/** Returns the address from the minutes, seconds and frames in the header of a raw sector, each digit in four bits. */
function addressOf (header: Buffer): number {
  const [minutes = 0, seconds = 0, frames = 0] = header.subarray(12, 15).map((byte) => (byte >> 4) * 10 + (byte & 15))
  return (minutes * 60 + seconds) * 75 + frames - LEAD_IN_SECTORS
}

function shapeOfSize (size: number): SectorShape | undefined {
  if (size % RAW_BYTES === 0) return MODES['MODE2/2352']
  if (size % CONTENT_BYTES === 0) return COOKED
  return size % 2336 === 0 ? MODES['MODE2/2336'] : undefined
}
