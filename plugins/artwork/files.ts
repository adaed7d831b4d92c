import { glob, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { createSmallCover, openImage } from '../resources/image.ts'
import { isNotFoundError } from '../../core/files/fs-error.ts'
import { ArtworkError, onDisk } from './failures.ts'
import type { Origins, ArtworkFile } from './origins.ts'
import type { Staging } from './staging.ts'

const IMAGE_EXTENSIONS: Record<string, string> = { jpeg: 'jpg', png: 'png', webp: 'webp', gif: 'gif', heif: 'avif' }
const HEAD_BYTES = 1_024

interface Services { origins: Origins, resourcesDir: string, staging: Staging }

/** Paths of a cover in the resources folder, without extensions. */
export interface CoverStems { large: string, small: string }

const acceptsImage = (type: string) => type.startsWith('image/') || type === '' || type === 'application/octet-stream'
const DOCUMENT_TYPES = ['application/pdf', 'application/force-download', 'application/octet-stream', '']
const acceptsDocument = (type: string) => DOCUMENT_TYPES.includes(type)
const acceptsFilm = (type: string) => type.startsWith('video/') || type === 'application/octet-stream'

/** Returns extension and height by the content. Refuses a file that is not a picture, whatever its name. */
async function readImage (file: string): Promise<{ extension: string, height: number }> {
  const { format, height } = await (await openImage(file)).metadata()
  const extension = IMAGE_EXTENSIONS[format]
  if (extension === undefined) throw new ArtworkError(`it is ${format}, not a picture that browsers can show`)
  return { extension, height }
}

async function readHead (file: string): Promise<Buffer> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** Checks for the header of a PDF, which is in the first 1,024 bytes. See ISO 32000-2, annex I. */
async function checkDocument (file: string): Promise<void> {
  if (!(await readHead(file)).includes('%PDF-')) throw new ArtworkError('it is not a PDF document')
}

/**
 * Checks for a film. An ISO base media file names its brand after `ftyp`; Matroska and WebM start with the EBML header.
 */
async function checkFilm (file: string): Promise<void> {
  const head = await readHead(file)
  const isFilm = head.toString('latin1', 4, 8) === 'ftyp' || head.toString('hex', 0, 4) === '1a45dfa3'
  if (!isFilm) throw new ArtworkError('it is not a video')
}

/**
 * Moves a complete file to its final path in the resources folder. The file replaces `<stem>.*`, so a picture of
 * another format leaves no second file.
 */
async function publishFile (resourcesDir: string, part: string, path: string): Promise<string> {
  const target = join(resourcesDir, path)
  const stem = basename(path, extname(path))
  await onDisk(async () => {
    await mkdir(dirname(target), { recursive: true })
    await rename(part, target)
    const twins = (await readdir(dirname(target))).filter((name) =>
      name !== basename(path) && basename(name, extname(name)) === stem)
    for (const twin of twins) await rm(join(dirname(target), twin), { force: true })
  })
  return path
}

/** Creates access to the stored artwork, by paths in the resources folder. */
function createStoredFiles (resourcesDir: string) {
  return {
    /** True if the file of a stored path exists. A file that cannot be checked counts as existing. */
    async isPresent (path: string | null | undefined): Promise<boolean> {
      if (path === null || path === undefined || path === '') return false
      try {
        await (await open(join(resourcesDir, path))).close()
        return true
      } catch (err) {
        return !isNotFoundError(err)
      }
    },

    async remove (paths: readonly string[]): Promise<void> {
      for (const path of paths) await rm(join(resourcesDir, path), { force: true })
    },

    /** Deletes all files of one ROM, except some paths. */
    async deleteExcept (folder: string, keptPaths: readonly string[]): Promise<void> {
      const path = join(resourcesDir, folder)
      if (keptPaths.length === 0) return await rm(path, { recursive: true, force: true })
      const keptFiles = new Set(keptPaths.map((one) => join(resourcesDir, one)))
      for await (const file of glob(join(path, '*', '*'))) if (!keptFiles.has(file)) await rm(file, { recursive: true })
    }
  }
}

/** Publishes complete files of the staging folder, which are on the same disk and are moved. */
export function createPublisher ({ resourcesDir, staging }: Omit<Services, 'origins'>) {
  async function publishSmall (content: Buffer, path: string): Promise<string> {
    const part = await onDisk(staging.next)
    try {
      await onDisk(() => writeFile(part, content))
      return await publishFile(resourcesDir, part, path)
    } finally {
      await rm(part, { force: true })
    }
  }

  async function publishCover (part: string, stems: CoverStems) {
    const { extension, height } = await readImage(part)
    const content = await createSmallCover(part, extension, height)
    const small = await publishSmall(content, `${stems.small}.${extension}`)
    try {
      return { large: await publishFile(resourcesDir, part, `${stems.large}.${extension}`), small }
    } catch (err) {
      await rm(join(resourcesDir, small), { force: true })
      throw err
    }
  }

  return {
    /** Publishes a cover and its small copy, both or neither. @throws ArtworkError for a file that is no picture */
    publishCover,

    /** @param stem path in the resources folder, without extension @returns the path with extension */
    async publishImage (part: string, stem: string): Promise<string> {
      const { extension } = await readImage(part)
      return await publishFile(resourcesDir, part, `${stem}.${extension}`)
    },

    /** @throws ArtworkError for a file that is no film */
    async publishFilm (part: string, path: string): Promise<string> {
      await checkFilm(part)
      return await publishFile(resourcesDir, part, path)
    },

    /** @throws ArtworkError for a PDF by name that is none by content */
    async publishDocument (part: string, path: string): Promise<string> {
      if (extname(path) === '.pdf') await checkDocument(part)
      return await publishFile(resourcesDir, part, path)
    }
  }
}

/** Stores pictures, documents and films in the resources folder. Each is complete before it gets its final name. */
export function createArtworkFiles ({ origins, resourcesDir, staging }: Services) {
  const { publishCover, publishDocument, publishFilm, publishImage } = createPublisher({ resourcesDir, staging })

  /** Downloads to a temporary name. That file is deleted at the end unless `store` moved it. */
  async function downloadAndStore<T> (
    piece: ArtworkFile, acceptType: (type: string) => boolean, store: (part: string) => Promise<T>
  ): Promise<T> {
    const part = await onDisk(staging.next)
    try {
      await origins.writeTo(piece, part, acceptType)
      return await store(part)
    } finally {
      await rm(part, { force: true })
    }
  }

  return {
    ...createStoredFiles(resourcesDir),

    /**
     * @param stem path in the resources folder, without extension
     * @returns the path with extension
     */
    downloadImage: (piece: ArtworkFile, stem: string): Promise<string> =>
      downloadAndStore(piece, acceptsImage, (part) => publishImage(part, stem)),

    /** Stores a cover and its small copy, both or neither. */
    downloadCover: (piece: ArtworkFile, stems: CoverStems) =>
      downloadAndStore(piece, acceptsImage, (part) => publishCover(part, stems)),

    /** Stores a cover from a picture on the same disk, which is moved. */
    publishCover,

    downloadDocument: (piece: ArtworkFile, path: string): Promise<string> =>
      downloadAndStore(piece, acceptsDocument, (part) => publishDocument(part, path)),

    downloadFilm: (piece: ArtworkFile, path: string): Promise<string> =>
      downloadAndStore(piece, acceptsFilm, (part) => publishFilm(part, path))
  }
}
export type ArtworkFiles = ReturnType<typeof createArtworkFiles>
