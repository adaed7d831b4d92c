import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Config } from '../../core/config/config.ts'
import { outsideRequestTime } from '../../core/database/request-time.ts'
import { ApiError, badRequest } from '../../core/errors.ts'
import { createFolder } from '../../core/files/create-folder.ts'
import { ifPresent } from '../../core/files/fs-error.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { type DownloadingClient, FileWriteError } from '../../core/http/client.ts'
import { deleteFolder } from '../../core/store/move-object.ts'
import { createSyncedWriter } from '../../core/store/store-writer.ts'
import type { Store } from '../../core/store/store.ts'
import { readPicture } from '../assets/check-picture.ts'
import { createSmallCover, openImage } from '../resources/image.ts'
import { resourceKey, resourcesDirOf } from '../resources/resource-key.ts'

/** Maximum size of a downloaded picture. */
export const COVER_MAX_BYTES = 64 * 1024 ** 2
const FETCH_TIMEOUT_MS = 30_000
const HEAD_BYTES = 64
const EXTENSIONS = new Set(['png', 'jpg', 'webp', 'gif'])
/** The folder of the pictures in the resources folder. */
const FOLDER = 'collections'
const INCOMING = '.incoming'
/** Age at which an unfinished upload is deleted; no upload takes longer. */
const INCOMING_MAX_MS = 24 * 60 * 60_000

export interface CoverPaths { path_cover_large: string, path_cover_small: string }

/** A verified picture without a final path. */
export interface StagedCover {
  /** Replaces the former picture and its small copy. */
  publish (collectionId: number): Promise<CoverPaths>
  /** Deletes the picture, unless it was published. */
  discard (): Promise<void>
}

async function readHead (path: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream(path, { end: HEAD_BYTES - 1 }) as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** @throws ApiError BAD_REQUEST for a file that is not an accepted picture */
async function readExtension (path: string, name: string): Promise<string> {
  const extension = await readPicture({ path, head: await readHead(path), name })
  if (EXTENSIONS.has(extension)) return extension
  throw badRequest(`The cover '${name}' is a ${extension} picture; send a PNG, JPEG, WebP or GIF picture`)
}

const listFolder = async (path: string): Promise<string[]> => await ifPresent(readdir(path)) ?? []

/** A verified picture under a temporary name, with its small copy. */
interface VerifiedPicture { part: string, small: Buffer, extension: string }

/** Moves a picture and its small copy to their final names, and deletes former pictures. */
async function publishCover (
  store: Store, collectionId: number, { part, small, extension }: VerifiedPicture
): Promise<CoverPaths> {
  const folder = `${FOLDER}/${collectionId}/cover`
  const names = { large: `big.${extension}`, small: `small.${extension}` }
  const keyOf = (name: string) => resourceKey(`${folder}/${name}`)
  const writer = createSyncedWriter(store)
  await writer.put(small, keyOf(names.small))
  await writer.move(part, keyOf(names.large))
  // Delete former pictures of another format.
  const kept = Object.values(names)
  const { objects } = await store.listNames(resourceKey(folder))
  await store.delete(objects.filter((name) => !kept.includes(name)).map(keyOf))
  return { path_cover_large: `${folder}/${names.large}`, path_cover_small: `${folder}/${names.small}` }
}

/** Creates the access to the pictures of collections. */
export function createCovers (config: Config, store: Store, http: DownloadingClient) {
  const incoming = join(resourcesDirOf(config), FOLDER, INCOMING)

  /** Writes a picture to a temporary name and verifies it there. A refused picture is deleted. */
  async function stage (name: string, write: (path: string) => Promise<unknown>): Promise<StagedCover> {
    const part = join(incoming, `${randomUUID()}.part`)
    await requireFreeSpace(incoming, COVER_MAX_BYTES)
    await createFolder(incoming)
    try {
      await write(part)
      const extension = await readExtension(part, name)
      const { height } = await (await openImage(part)).metadata()
      const small = await createSmallCover(part, extension, height).catch((err: unknown) => {
        throw badRequest(`The cover '${name}' cannot be read (${err instanceof Error ? err.message.slice(0, 200) : String(err)})`)
      })
      return {
        publish: (id) => publishCover(store, id, { part, small, extension }),
        discard: () => rm(part, { force: true })
      }
    } catch (err) {
      await rm(part, { force: true })
      throw err
    }
  }

  return {
    /** @throws ApiError BAD_REQUEST, TOO_LARGE, NO_FREE_SPACE; the file is deleted first */
    upload: (name: string, content: Readable & { truncated?: boolean }): Promise<StagedCover> =>
      stage(name, async (path) => {
        await pipeline(content, createWriteStream(path, { flags: 'wx' }))
        if (content.truncated === true) throw new ApiError('TOO_LARGE', `A cover may have at most ${COVER_MAX_BYTES} bytes; send a smaller picture`)
      }),

    /** @throws ApiError BAD_REQUEST for an address that is refused, or has no picture */
    fetch: (url: string): Promise<StagedCover> => outsideRequestTime(() => stage(url, async (path) => {
      try {
        await http.download(url, { toFile: path, timeoutMs: FETCH_TIMEOUT_MS, retry: false, maxBytes: COVER_MAX_BYTES })
      } catch (err) {
        if (err instanceof FileWriteError) throw err
        const reason = err instanceof Error ? err.message.slice(0, 300) : String(err)
        throw badRequest(`The cover '${url}' could not be fetched: ${reason}; give the address of a picture, or upload it`)
      }
    })),

    /** True if the file of a stored path still exists. @throws ApiError UNAVAILABLE */
    async isPresent (path: string | null): Promise<boolean> {
      if (path === null) return false
      return await store.stat(resourceKey(path)) !== null
    },

    delete: (id: number): Promise<void> => deleteFolder(store, resourceKey(`${FOLDER}/${id}`)),

    /** Lists the ids of collections that have a folder. */
    async listFolders (): Promise<number[]> {
      const { folders } = await store.listNames(resourceKey(FOLDER))
      return folders.filter((name) => /^\d{1,9}$/.test(name)).map(Number)
    },

    /** Deletes the files of uploads that never finished. */
    async sweep (): Promise<void> {
      for (const name of await listFolder(incoming)) {
        const path = join(incoming, name)
        const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
        if (Date.now() - mtimeMs > INCOMING_MAX_MS) await rm(path, { force: true })
      }
    }
  }
}
export type Covers = ReturnType<typeof createCovers>
