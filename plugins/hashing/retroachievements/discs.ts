// Rules: https://docs.retroachievements.org/developer-docs/game-identification.html
import { createHash } from 'node:crypto'
import { digestFile, digestSectors, findFile, type DiscFile } from './images/iso9660.ts'
import type { Disc, Track } from './images/tracks.ts'

/** Hashes the relevant parts of a disc; null if the disc does not suit the console. */
export type DiscRule = (disc: Disc) => string | null

/** Hashes the headers of the volume and the system area of a Sega CD or Saturn disc. */
export const hashSegaDisc: DiscRule = (disc) => {
  const header = disc.track(1)?.read(0, 512)
  if (header === undefined || header.length < 512) return null
  const name = header.toString('latin1', 0, 16)
  if (name !== 'SEGADISCSYSTEM  ' && name !== 'SEGA SEGASATURN ') return null
  return createHash('md5').update(header).digest('hex')
}

/**
 * Hashes the name of the boot program and its bytes. The program's own header is more reliable about its size than the
 * folder.
 */
export const hashPlayStation: DiscRule = (disc) => {
  const track = disc.track(1)
  if (track === null) return null
  const name = findBootName(track, /^BOOT\s*=\s*(?:cdrom:)?\\*([^\s;]*)/m)
  const boot = (name === null ? null : findProgram(track, name)) ?? findProgram(track, 'PSX.EXE')
  if (boot === null) return null
  const header = track.read(boot.sector, 32)
  if (header.length < 32) return null
  const size = header.toString('latin1', 0, 7) === 'PS-X EX' ? header.readUInt32LE(28) + 2048 : boot.size
  return hashProgram(track, { ...boot, size })
}

export const hashPlayStation2: DiscRule = (disc) => {
  const track = disc.track(1)
  if (track === null) return null
  const name = findBootName(track, /^BOOT2\s*=\s*(?:cdrom0:)?\\*([^\s;]*)/m)
  const boot = name === null ? null : findProgram(track, name)
  return boot === null ? null : hashProgram(track, boot)
}

interface Program extends DiscFile { name: string }

function findBootName (track: Track, line: RegExp): string | null {
  const settings = findFile(track, 'SYSTEM.CNF')
  const text = settings === null ? '' : track.read(settings.sector, 2047).toString('latin1')
  const name = line.exec(text.replace(/\0.*$/s, ''))?.[1]?.slice(0, 63)
  return name === undefined || name === '' ? null : name
}

function findProgram (track: Track, name: string): Program | null {
  const file = findFile(track, name)
  return file === null ? null : { ...file, name }
}

/**
 * Hashes name and bytes of a program, because several games share one engine and differ in the program's name alone.
 */
function hashProgram (track: Track, program: Program): string {
  const digest = createHash('md5').update(program.name, 'latin1')
  digestFile(digest, track, program)
  return digest.digest('hex')
}

export const hashPsp: DiscRule = (disc) => {
  const track = disc.track(1)
  const parts = ['PSP_GAME\\PARAM.SFO', 'PSP_GAME\\SYSDIR\\EBOOT.BIN'].map((path) => track && findFile(track, path))
  const digest = createHash('md5')
  for (const part of parts) {
    if (track === null || part === null) return null
    digestFile(digest, track, part)
  }
  return digest.digest('hex')
}

/** Hashes the programs in the list of what is loaded first. */
export const hashNeoGeoCd: DiscRule = (disc) => {
  const track = disc.track(1)
  const list = track && findFile(track, 'IPL.TXT')
  if (track === null || list === null) return null
  const digest = createHash('md5')
  const text = track.read(list.sector, 1023).toString('latin1').replace(/[\0\x1a].*$/s, '') // eslint-disable-line no-control-regex
  const names = [...text.matchAll(/^[^.\n]*\.PRG/gim)].map(([name]) => name)
  for (const name of names) {
    const program = findFile(track, name)
    if (program === null) return null
    digestFile(digest, track, program)
  }
  return names.length === 0 ? null : digest.digest('hex')
}

const DREAMCAST_MARK = 'SEGA SEGAKATANA '

/** Hashes the header and the boot program, which is on the same track or on the last. */
export const hashDreamcast: DiscRule = (disc) => {
  for (const choice of [3, 'first-data'] as const) {
    const track = disc.track(choice)
    const header = track?.read(track.firstSector, 256)
    if (track === null || header?.toString('latin1', 0, 16) !== DREAMCAST_MARK) continue
    const name = /^\S+/.exec(header.toString('latin1', 96, 112))?.[0]
    const boot = name === undefined ? null : findFile(track, name)
    if (boot === null) return null
    const home = track.read(boot.sector, 1).length > 0 ? track : disc.track('last')
    if (home === null) return null
    const digest = createHash('md5').update(header)
    digestFile(digest, home, boot)
    return digest.digest('hex')
  }
  return null
}

const PC_ENGINE_MARK = 'PC Engine CD-ROM SYSTEM'
const PC_FX_MARK = 'PC-FX:Hu_CD-ROM'

export const hashPcEngineCd: DiscRule = (disc) => {
  const track = disc.track('first-data')
  return track === null ? null : hashPcEngineTrack(track)
}

/** Hashes the title and the boot program; discs of Games Express have a file for the program instead. */
function hashPcEngineTrack (track: Track): string | null {
  const header = track.read(track.firstSector + 1, 128)
  if (header.length < 128) return null
  const digest = createHash('md5')
  if (header.toString('latin1', 32, 32 + PC_ENGINE_MARK.length) === PC_ENGINE_MARK) {
    digest.update(header.subarray(106, 128))
    digestSectors(digest, track, track.firstSector + header.readUIntBE(0, 3), header[3] ?? 0)
  } else {
    const boot = findFile(track, 'BOOT.BIN')
    if (boot === null) return null
    digestFile(digest, track, boot)
  }
  return digest.digest('hex')
}

export const hashPcFx: DiscRule = (disc) => {
  const tracks = (['largest-data', 2] as const).flatMap((choice) => disc.track(choice) ?? [])
  const track = tracks.find((one) => one.read(one.firstSector, 32).toString('latin1').startsWith(PC_FX_MARK))
  if (track === undefined) {
    const last = tracks.at(-1)
    return last === undefined ? null : hashPcEngineTrack(last)
  }
  const header = track.read(track.firstSector + 1, 128)
  if (header.length < 128) return null
  const digest = createHash('md5').update(header)
  digestSectors(digest, track, track.firstSector + header.readUIntLE(32, 3), header.readUIntLE(36, 3))
  return digest.digest('hex')
}
