import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Config } from '../../core/config/config.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { writeUpload } from '../../core/files/write-upload.ts'
import { makeFolder } from '../../core/store/fs-store.ts'
import { openIfPresent } from '../../core/store/open-object.ts'
import { withLocalFile } from '../../core/store/move-object.ts'
import type { StagedObject, Store, StoredObject } from '../../core/store/store.ts'
import { assetsConfig } from './config.ts'
import { hashContent } from './disk/content-hash.ts'
import { diskName } from './asset-names.ts'

/** Number of bytes that identify the type of a file. */
export const HEAD_BYTES = 64
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)

/** Folder of staged uploads, whose kind is not known yet. */
export const INCOMING = 'incoming'

/** An upload that is complete on disk and not published yet. */
export interface StagedFile {
  /** The file name as the client sent it. */
  given_name: string
  file_size_bytes: number
  sha1: string
  /** MD5 of the bytes. */
  md5: string
  content_hash: string | null
  /** The first bytes of the file. */
  head: Buffer
  path: string
  /**
   * Gives the file its final name, in a folder below the folder of its user.
   *
   * @returns its path below the assets folder
   */
  publish (folder: string, fileName: string): Promise<string>
  /** Deletes the staged file, unless it was published. */
  discard (): Promise<void>
}

/** The folder of uploads in the store. */
export const ASSETS = 'assets'

/** Returns the key of content. @param diskPath the path below the assets folder, as rows name it */
export const contentKey = (diskPath: string): string => `${ASSETS}/${diskPath}`

/** Creates the hashes and the first bytes of content that arrives in pieces. */
function createContentDigest () {
  const [sha1, md5] = [createHash('sha1'), createHash('md5')]
  let head = Buffer.alloc(0)
  return {
    see (chunk: Buffer): void {
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)])
      sha1.update(chunk)
      md5.update(chunk)
    },
    finish: () => ({ sha1: sha1.digest('hex'), md5: md5.digest('hex'), head })
  }
}

/** Reads content as `stage` would and stores nothing, for a plan. The hash of a zip is that of its bytes. */
export async function measureContent (name: string, content: Readable): Promise<StagedFile> {
  const digest = createContentDigest()
  let size = 0
  for await (const chunk of content as AsyncIterable<Buffer>) {
    digest.see(chunk)
    size += chunk.length
  }
  const facts = digest.finish()
  return {
    ...facts,
    given_name: name,
    file_size_bytes: size,
    content_hash: facts.md5,
    path: '',
    publish: async (folder, fileName) => `${folder}/${fileName}`,
    discard: async () => {}
  }
}

/** Returns the handle of a staged file. */
function toStaged (
  object: StagedObject, userFolder: string, staged: Omit<StagedFile, 'publish' | 'discard'>
): StagedFile {
  return {
    ...staged,
    async publish (folder, fileName) {
      const path = `${userFolder}/${folder}/${diskName(randomBytes(4).toString('hex'), fileName)}`
      await object.publish(contentKey(path))
      return path
    },
    discard: () => object.discard()
  }
}

export function createFiles (config: Config, store: Store) {
  const base = join(config.data_dir, ASSETS)
  const maxBytes = assetsConfig.of(config).max_upload_bytes

  /** @throws ApiError NO_FREE_SPACE unless this many bytes fit and enough space stays free. */
  const checkFreeSpace = (bytes: number) => requireFreeSpace(base, bytes)

  const limits = {
    folder: base,
    maxBytes,
    tooLarge: () => new ApiError('TOO_LARGE',
      `A file may have at most ${maxBytes} bytes; raise MAX_ASSET_UPLOAD_SIZE_BYTES to send larger ones`)
  }

  async function write (handle: FileHandle, content: Readable) {
    const digest = createContentDigest()
    const size = await writeUpload(handle, content, limits, digest.see)
    return { file_size_bytes: size, ...digest.finish() }
  }

  return {
    store,
    checkFreeSpace,

    /**
     * Writes an upload to the staging folder of a user while the content arrives.
     *
     * @throws ApiError TOO_LARGE, NO_FREE_SPACE; the staged file is deleted first.
     */
    async stage (userFolder: string, name: string, content: Readable): Promise<StagedFile> {
      const folder = join(base, userFolder, INCOMING)
      await makeFolder(folder)
      const path = join(folder, `${randomUUID()}.part`)
      const handle = await open(path, NEW_FILE, 0o640)
      try {
        const facts = await write(handle, content).finally(() => handle.close())
        const contentHash = await hashContent(path, facts.head, facts.md5)
        return toStaged(await store.stage(path), userFolder,
          { path, given_name: name, ...facts, content_hash: contentHash })
      } catch (err) {
        await rm(path, { force: true })
        throw err
      }
    },

    /** Opens content for reading; the caller closes it. Returns null if the content is not in the store. */
    open: (diskPath: string): Promise<StoredObject | null> => openIfPresent(store, contentKey(diskPath)),

    /** Runs work that needs content as a file on this machine. */
    withLocal: <T>(content: StoredObject, work: (path: string) => Promise<T>): Promise<T> =>
      withLocalFile(store, content, join(base, INCOMING), work),

    /** Deletes content that no row names any more. */
    remove: (diskPaths: readonly string[]): Promise<void> => store.delete(diskPaths.map(contentKey))
  }
}
export type Files = ReturnType<typeof createFiles>

export const missingFile = (fileName: string) =>
  notFound(`The content of '${fileName}' is missing on the disk of the server; restore the file from a backup, or upload it again`)
