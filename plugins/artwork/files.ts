import { open, rm, writeFile } from 'node:fs/promises'
import { extname, join, posix } from 'node:path'
import { isNotFoundError } from '../../core/files/fs-error.ts'
import { deleteFolder } from '../../core/store/move-object.ts'
import type { StoreWriter } from '../../core/store/store-writer.ts'
import type { Store } from '../../core/store/store.ts'
import { createSmallCover, openImage } from '../resources/image.ts'
import { RESOURCES, resourceKey } from '../resources/resource-key.ts'
import { ArtworkError, onDisk } from './failures.ts'
import type { Origins, ArtworkFile } from './origins.ts'
import type { Staging } from './staging.ts'

const IMAGE_EXTENSIONS: Record<string, string> = { jpeg: 'jpg', png: 'png', webp: 'webp', gif: 'gif', heif: 'avif' }
const HEAD_BYTES = 1_024

interface PublisherServices {
  store: Store
  /** The writer that fits the value of the content. */
  writer: StoreWriter
}

interface Services extends PublisherServices { origins: Origins, staging: Staging }

/** True if the file of a stored path exists. A file that cannot be checked counts as existing. */
export type IsPresent = (path: string | null | undefined) => Promise<boolean>

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

/** Returns the keys of the objects in a folder of the resources folder, and in its folders. */
async function listKeys (store: Store, folder: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of store.list(resourceKey(folder))) keys.push(key)
  return keys
}

/** Returns the check for a store on this machine. */
const checkDisk = (resourcesDir: string): IsPresent => async (path) => {
  if (path === null || path === undefined || path === '') return false
  try {
    await (await open(join(resourcesDir, path))).close()
    return true
  } catch (err) {
    return !isNotFoundError(err)
  }
}

/** Returns the check for files of one folder of a bucket. One list replaces the requests for all of its files. */
function checkBucket (store: Store, folder: string): IsPresent {
  let listed: Promise<ReadonlySet<string> | null> | undefined
  return async (path) => {
    if (path === null || path === undefined || path === '') return false
    listed ??= listKeys(store, folder).then((keys) => new Set(keys), () => null)
    const keys = await listed
    if (keys === null || keys.has(resourceKey(path))) return true
    if (path.startsWith(`${folder}/`)) return false
    return await store.stat(resourceKey(path)).then((facts) => facts !== null, () => true)
  }
}

/** Returns the check for the files of one ROM. */
export const checkPresence = (store: Store, folder: string): IsPresent =>
  store.folder === null ? checkBucket(store, folder) : checkDisk(join(store.folder, RESOURCES))

/** Creates access to the stored artwork, by paths in the resources folder. */
function createStoredFiles (store: Store) {
  return {
    checkPresence: (folder: string): IsPresent => checkPresence(store, folder),

    remove: (paths: readonly string[]): Promise<void> => store.delete(paths.map(resourceKey)),

    /** Deletes all files of one ROM, except some paths. */
    async deleteExcept (folder: string, keptPaths: readonly string[]): Promise<void> {
      if (keptPaths.length === 0) return await deleteFolder(store, resourceKey(folder))
      const keptKeys = new Set(keptPaths.map(resourceKey))
      await store.delete((await listKeys(store, folder)).filter((key) => !keptKeys.has(key)))
    }
  }
}

/** Deletes `<stem>.*` besides a published file, so a picture of another format leaves no second file. */
async function deleteTwins (store: Store, path: string): Promise<void> {
  const { dir, base, name: stem } = posix.parse(path)
  const { objects } = await store.listNames(resourceKey(dir))
  const twins = objects.filter((name) => name !== base && posix.parse(name).name === stem)
  await store.delete(twins.map((name) => resourceKey(`${dir}/${name}`)))
}

/** Publishes complete files of the staging folder, which are on the same disk and are moved. */
export function createPublisher ({ store, writer }: PublisherServices) {
  /** Gives a file its final path in the resources folder. */
  async function publishFile (part: string, path: string): Promise<string> {
    await onDisk(async () => {
      await writer.move(part, resourceKey(path))
      await deleteTwins(store, path)
    })
    return path
  }

  /** Publishes content by a file beside a staged one, because those of killed processes are deleted there. */
  async function publishBeside (staged: string, content: Buffer, path: string): Promise<string> {
    const part = `${staged}.beside`
    try {
      await onDisk(() => writeFile(part, content))
      return await publishFile(part, path)
    } finally {
      await rm(part, { force: true })
    }
  }

  async function publishCover (part: string, stems: CoverStems) {
    const { extension, height } = await readImage(part)
    const content = await createSmallCover(part, extension, height)
    const small = await publishBeside(part, content, `${stems.small}.${extension}`)
    try {
      return { large: await publishFile(part, `${stems.large}.${extension}`), small }
    } catch (err) {
      await store.delete([resourceKey(small)])
      throw err
    }
  }

  return {
    /** Publishes a cover and its small copy, both or neither. @throws ArtworkError for a file that is no picture */
    publishCover,

    /** @param stem path in the resources folder, without extension @returns the path with extension */
    async publishImage (part: string, stem: string): Promise<string> {
      const { extension } = await readImage(part)
      return await publishFile(part, `${stem}.${extension}`)
    },

    /** @throws ArtworkError for a file that is no film */
    async publishFilm (part: string, path: string): Promise<string> {
      await checkFilm(part)
      return await publishFile(part, path)
    },

    /** @throws ArtworkError for a PDF by name that is none by content */
    async publishDocument (part: string, path: string): Promise<string> {
      if (extname(path) === '.pdf') await checkDocument(part)
      return await publishFile(part, path)
    }
  }
}

export type ArtworkPublisher = ReturnType<typeof createPublisher>

/** Stores pictures, documents and films. Each is complete before it gets its final name. */
export function createArtworkFiles ({ origins, staging, store, writer }: Services) {
  const { publishCover, publishDocument, publishFilm, publishImage } = createPublisher({ store, writer })

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
    ...createStoredFiles(store),

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
