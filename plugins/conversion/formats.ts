import { extname } from 'node:path/posix'
import type { Entry, EntryFile } from '../entries/entries.ts'
import { UNHASHED_PLATFORMS } from '../hashing/entry-hasher.ts'
import type { Target } from './schemas.ts'

/** Platforms whose emulators read CHDs of CDs and GD-ROMs. */
const CD_PLATFORMS: ReadonlySet<string> = new Set(['3do', 'amiga-cd', 'amiga-cd32', 'apple-pippin', 'atari-jaguar-cd', 'commodore-cdtv',
  'dc', 'fm-towns', 'neo-geo-cd', 'pc-fx', 'philips-cd-i', 'ps2', 'psx', 'saturn', 'segacd', 'segacd32', 'turbografx-cd'])
/** Platforms whose `.iso` files are DVDs or UMDs, which have their own kind of CHD. */
const DVD_PLATFORMS: ReadonlySet<string> = new Set(['ps2', 'psp'])
/** Platforms whose emulators identify a game by the archive itself. */
const ARCHIVE_PLATFORMS: ReadonlySet<string> = new Set(['arcade', 'cps1', 'cps2', 'cps3', 'dos', 'hikaru', 'hyper-neo-geo-64', 'model1',
  'model2', 'model3', 'mugen', 'neogeoaes', 'neogeomvs', 'openbor', 'pinball', 'scummvm', 'stv', 'system16', 'system32', 'taito-x-55',
  'zinc'])
/** Platforms whose emulators read no zip, although the files are no disc images. */
const UNZIPPED_PLATFORMS: ReadonlySet<string> = new Set([...UNHASHED_PLATFORMS, '3ds', 'new-nintendo-3ds', 'ngc', 'playdate', 'psvita',
  'series-x-s', 'wii', 'win3x', 'win9x', 'xbox'])

/** Extensions of files that are compressed already, or that emulators read only in this form. */
const COMPRESSED: ReadonlySet<string> = new Set(['3dz', 'apk', 'bz2', 'chd', 'cia', 'cso', 'dax', 'ecm', 'gcz', 'gz', 'ipa', 'jso', 'm3u',
  'm3u8', 'nsp', 'nsz', 'pbp', 'pkg', 'rar', 'rvz', 'squashfs', 'tar', 'tbz2', 'tgz', 'txz', 'vpk', 'wad', 'wbfs', 'wia', 'wsquashfs',
  'wua', 'wux', 'xci', 'xcz', 'xz', 'zso', 'zst', 'ciso'])
/** Disc images and their sheets. A zip of them has to be unpacked as a whole before a game starts. */
const DISC_FILES: ReadonlySet<string> = new Set(['ccd', 'cdi', 'cue', 'gdi', 'img', 'iso', 'mdf', 'mds', 'nrg', 'sub', 'toc'])
const SHEETS: ReadonlySet<string> = new Set(['cue', 'gdi'])

export type StepKind = 'zip' | 'rezip' | 'unzip' | 'chd' | 'unchd'

/** A conversion of some files of a ROM that belong together. */
export interface Step {
  kind: StepKind
  /** The file after which the result is named. */
  main: EntryFile
  /** The files that are deleted afterwards, `main` included. */
  sources: EntryFile[]
}

/** The decision about a ROM: some steps, or the reason to skip it. */
export type Decision = { steps: Step[] } | { left: string }

/** Facts about a ROM besides its files. */
export interface RomContext {
  slug: string
  to: Target
  /** Returns the file that names another one in the same folder, such as a playlist; null for none. */
  findNaming (file: EntryFile): string | null
  /** Returns the playlist outside of the ROM's folder that names a file in it; null for none. */
  findOutside (file: EntryFile): string | null
  /** Returns the tracks that a sheet names, or the reason against its conversion. */
  readTracks (sheet: EntryFile): Promise<{ files: EntryFile[] } | { left: string }>
}

type FileDecision = Step | { left: string }

export const extensionOf = (name: string) => extname(name).slice(1).toLowerCase()
export const isPlaylist = (name: string) => ['m3u', 'm3u8'].includes(extensionOf(name))
export const isSheet = (name: string) => SHEETS.has(extensionOf(name))
export const isDvdPlatform = (slug: string) => DVD_PLATFORMS.has(slug)
const isDiscPlatform = (slug: string) => CD_PLATFORMS.has(slug) || DVD_PLATFORMS.has(slug)

const step = (kind: StepKind, main: EntryFile, sources = [main]): Step => ({ kind, main, sources })
const skip = (reason: string) => ({ left: reason })

function toZip (file: EntryFile, isInFolder: boolean, slug: string): FileDecision {
  const extension = extensionOf(file.file_name)
  if (extension === 'zip') return skip('it is a zip already')
  if (extension === '7z') return step('rezip', file)
  if (isInFolder) return skip('its files belong together in a folder')
  if (COMPRESSED.has(extension)) return skip(`emulators read .${extension} files as they are, or the files are compressed already`)
  if (isDiscPlatform(slug) || DISC_FILES.has(extension)) return skip('emulators cannot read a disc in a zip; convert it to chd')
  return UNZIPPED_PLATFORMS.has(slug) ? skip(`emulators of '${slug}' cannot read zips`) : step('zip', file)
}

function toPlain (file: EntryFile, slug: string): FileDecision {
  const extension = extensionOf(file.file_name)
  if (extension === 'chd') return isDiscPlatform(slug) ? step('unchd', file) : skip(`emulators of '${slug}' need the CHD itself`)
  if (extension !== 'zip' && extension !== '7z') return skip('it is neither .zip nor .7z nor .chd')
  return ARCHIVE_PLATFORMS.has(slug) ? skip(`emulators of '${slug}' need the archive of a game`) : step('unzip', file)
}

async function toChd (file: EntryFile, isInFolder: boolean, context: RomContext): Promise<FileDecision> {
  const extension = extensionOf(file.file_name)
  if (!isDiscPlatform(context.slug)) return skip(`emulators of '${context.slug}' cannot read CHDs`)
  if (extension === 'chd') return skip('it is a CHD already')
  if (extension === 'iso') return step('chd', file)
  if (!SHEETS.has(extension)) return skip('it is not a disc image that can become a CHD (.cue, .gdi, .iso)')
  if (!isInFolder) return skip('its tracks are separate ROMs beside it; move all of them into one folder and scan')
  const tracks = await context.readTracks(file)
  return 'left' in tracks ? tracks : step('chd', file, [file, ...tracks.files])
}

async function decideFile (file: EntryFile, isInFolder: boolean, context: RomContext): Promise<FileDecision> {
  const outside = isInFolder ? context.findOutside(file) : null
  if (outside !== null) return skip(`'${outside}', which is outside of its folder, refers to it; move that into the folder`)
  const naming = isInFolder && isSheet(file.file_name) ? null : context.findNaming(file)
  if (naming !== null && !(isInFolder && isPlaylist(naming))) return skip(`'${naming}' refers to it`)
  switch (context.to) {
    case 'zip': return toZip(file, isInFolder, context.slug)
    case 'chd': return await toChd(file, isInFolder, context)
    case 'plain': return toPlain(file, context.slug)
  }
}

/** Decides how to convert a ROM; in a folder, every file that can be converted. */
export async function decide (entry: Entry, context: RomContext): Promise<Decision> {
  const isInFolder = entry.kind === 'folder'
  const steps: Step[] = []
  const reasons: string[] = []
  for (const file of entry.files) {
    const verdict = await decideFile(file, isInFolder, context)
    if ('kind' in verdict) steps.push(verdict)
    else if (context.to === 'chd' && isSheet(file.file_name)) return verdict
    else reasons.push(verdict.left)
  }
  if (steps.length > 0) return { steps }
  return skip(isInFolder ? 'its folder has no file that can be converted' : reasons[0] ?? 'it has no files')
}
