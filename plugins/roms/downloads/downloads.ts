import { crc32 } from 'node:zlib'
import type { Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import { badRequest, notFound } from '../../../core/errors.ts'
import { formatOf } from '../../../core/archives/formats.ts'
import { allOf } from '../../../core/database/conditions.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { createChecksums } from './checksums.ts'
import { hasId, isOfPlatform, isOneOf, isThere } from '../filters/list-conditions.ts'
import { type FileRow, selectFile, selectFiles } from '../rows.ts'
import { type RomLocation, selectPlaces } from './location-rows.ts'
import { type StoredFile, openStoredFile } from '../stored-files.ts'
import { romNotFound } from '../rom-not-found.ts'
import { type Zip, type ZipEntry, createZip, toEntryName } from './zip.ts'
import { type FileAccess, fileContent, textContent } from './zip-content.ts'

/** The answer to a download request: one file or a zip. */
export type Download =
  | { kind: 'file', handle: FileHandle, type: string, disposition: { type: 'attachment' | 'inline', fileName: string } }
  | { kind: 'zip', fileName: string, zip: Zip }

const BINARY = 'application/octet-stream'
const INLINE_CATEGORIES = new Set(['soundtrack'])
const CONCURRENT_STATS = 16
/** The database stores whole milliseconds. */
const MTIME_ROUNDING_MS = 1

/**
 * Reads ids separated by commas.
 *
 * @throws ApiError BAD_REQUEST for anything but whole numbers.
 */
export function readIdList (name: string, text: string): number[] {
  const parts = text.split(',').map((part) => part.trim()).filter(Boolean)
  const wrong = parts.find((part) => !/^\d{1,9}$/.test(part))
  if (wrong !== undefined) throw badRequest(`${name} must be ids separated by commas; '${wrong.slice(0, 50)}' is not an id`)
  return [...new Set(parts.map(Number))]
}

const pathOf = (file: FileRow) => `${file.file_path}/${file.file_name}`
const hasExtension = (name: string, extension: string) => name.toLowerCase().endsWith(extension)

/** Returns a playlist of the discs for emulators that need one: the cue sheets, else all entries. */
function createPlaylist (entries: readonly ZipEntry[]): string {
  const names = entries.map((entry) => toEntryName(entry.name))
  const cues = names.filter((name) => hasExtension(name, '.cue'))
  return (cues.length > 0 ? cues : names).join('\n')
}

async function mapInBatches<In, Out> (items: readonly In[], map: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = []
  for (let start = 0; start < items.length; start += CONCURRENT_STATS) {
    results.push(...await Promise.all(items.slice(start, start + CONCURRENT_STATS).map(map)))
  }
  return results
}

/**
 * Returns a file's own CRC-32, unless the file changed since the scan. For archives the scan stores only the checksum
 * of the content.
 */
function scannedCrc (file: FileRow, { size, mtimeMs }: Stats): number | null {
  const isSame = size === file.file_size_bytes && Math.abs(mtimeMs - file.last_modified) < MTIME_ROUNDING_MS
  if (!isSame || file.crc_hash === '' || formatOf(file.file_name).kind !== 'plain') return null
  return Number.parseInt(file.crc_hash, 16)
}

/** The services that open files for downloads. */
interface FileServices {
  library: FastifyInstance['library']
  access: FileAccess
}

function open ({ library }: FileServices, rom: RomLocation, file: FileRow): Promise<FileHandle> {
  const stored: StoredFile = {
    library_id: rom.library_id, file_name: file.file_name, file_path: file.file_path, fs_path: rom.fs_path,
    platform_fs_slug: rom.platform_fs_slug
  }
  return openStoredFile(library, stored, `File ${file.file_name} not found on disk for ROM ${rom.id}`)
}

/** Reads sizes from disk, because sizes in the database may be out of date and a zip declares sizes up front. */
async function toEntry (services: FileServices, rom: RomLocation, file: FileRow, name: string): Promise<ZipEntry> {
  const handle = await open(services, rom, file)
  try {
    const stats = await handle.stat()
    const fingerprint = await services.access.fingerprintOf(handle)
    const { size, mtime: modified } = stats
    const zipped = { size, modified, fingerprint, crc: scannedCrc(file, stats), open: () => open(services, rom, file) }
    return { name, content: fileContent(pathOf(file), zipped, services.access) }
  } finally {
    await handle.close()
  }
}

/** Names one folder per library if the ROMs are in several libraries, because libraries may contain equal paths. */
async function namePlaces (
  { library }: FileServices, roms: readonly RomLocation[]
): Promise<(rom: RomLocation) => string> {
  if (new Set(roms.map((rom) => rom.library_id)).size === 1) return () => ''
  const names = new Map((await library.list()).map(({ id, name }) => [id, name.replaceAll('/', '_')]))
  return ({ library_id: id }) => `${names.get(id) ?? id}/`
}

async function toAttachment (services: FileServices, rom: RomLocation, file: FileRow): Promise<Download> {
  return {
    kind: 'file',
    handle: await open(services, rom, file),
    type: BINARY,
    disposition: { type: 'attachment', fileName: file.file_name }
  }
}

async function toFolderZip (
  services: FileServices, rom: RomLocation, files: readonly FileRow[],
  { name, isHidden }: { name: string, isHidden: boolean }
): Promise<Download> {
  const folder = `${rom.fs_path}/${rom.fs_name}/`
  const prefix = isHidden ? '.hidden/' : ''
  const entries = await mapInBatches(files, (file) => {
    const path = pathOf(file)
    return toEntry(services, rom, file, path.startsWith(folder) ? prefix + path.slice(folder.length) : file.file_name)
  })
  const playlist = files.some((file) => hasExtension(file.file_name, '.m3u'))
    ? []
    : [{ name: `${name.replaceAll('/', '_')}.m3u`, content: textContent(createPlaylist(entries)) }]
  return { kind: 'zip', fileName: `${name}.zip`, zip: createZip([...entries, ...playlist]) }
}

/** Creates the service that opens ROMs for downloads. */
export function createDownloads (app: FastifyInstance) {
  const { files, library } = app
  const access = { fingerprintOf: files.fingerprintOf, readFile: files.read, checksums: createChecksums() }
  const services: FileServices = { library, access }

  return {
    /**
     * Opens a ROM for download: its only file, or a zip of its files.
     *
     * @param name names the zip, never a file
     */
    async openRom (
      context: Context<AnyCaller>, romId: number, name: string,
      options: { fileIds: readonly number[], isHidden: boolean }
    ): Promise<Download> {
      const { db } = context
      const [rom] = await selectPlaces(context, hasId(romId))
      if (rom === undefined) throw romNotFound(romId)
      const all = (await selectFiles(db, [romId])).get(romId) ?? []
      const { fileIds, isHidden } = options
      const files = fileIds.length === 0 ? all : all.filter((file) => fileIds.includes(file.id))
      const [first] = files
      if (first === undefined) throw notFound(`No files found for ROM ${romId}`)
      if (files.length === 1) return await toAttachment(services, rom, first)
      return await toFolderZip(services, rom, files, { name, isHidden })
    },

    /** Opens one file by its own id. A file that browsers can show is sent inline. */
    async openFile (context: Context<AnyCaller>, fileId: number): Promise<Download> {
      const file = await selectFile(context, fileId)
      const [rom] = file === null ? [] : await selectPlaces(context, hasId(file.rom_id))
      if (file === null || rom === undefined) throw notFound('File not found')
      const download = await toAttachment(services, rom, file)
      const type = app.files.mediaTypeOf(file.file_name)
      const isShown = type !== null && (!type.startsWith('audio/') || INLINE_CATEGORIES.has(file.category ?? ''))
      if (!isShown || download.kind !== 'file') return download
      return { ...download, type, disposition: { ...download.disposition, type: 'inline' } }
    },

    /**
     * Creates a zip of every file of several ROMs, named by their paths in the library. Skips ids that are not visible.
     *
     * @param selector a platform's id, or ROM ids
     */
    async openMany (
      context: Context<AnyCaller>, selector: { platformId: number } | { romIds: readonly number[] },
      fileName: string
    ): Promise<Download> {
      const { db } = context
      const condition = 'platformId' in selector ? isOfPlatform(selector.platformId) : isOneOf(selector.romIds)
      const roms = await selectPlaces(context, allOf([condition, isThere]))
      if (roms.length === 0) throw notFound('None of these ROMs can be downloaded')
      const files = await selectFiles(db, roms.map((rom) => rom.id))
      const all = roms.flatMap((rom) => (files.get(rom.id) ?? []).map((file) => ({ rom, file })))
      if (all.length === 0) throw notFound('None of these ROMs has a file to download')
      const placeOf = await namePlaces(services, roms)
      const entries = await mapInBatches(all, ({ rom, file }) =>
        toEntry(services, rom, file, placeOf(rom) + pathOf(file)))
      const checksum = crc32(roms.map((rom) => rom.id).sort((a, b) => a - b).join(',')).toString(16).padStart(8, '0')
      return {
        kind: 'zip',
        fileName: fileName === '' ? `${roms.length} ROMs (${checksum}).zip` : fileName,
        zip: createZip(entries)
      }
    }
  }
}
