import { constants } from 'node:fs'
import { type FileHandle, open, realpath, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { Digest } from '../../core/archives/digest.ts'
import type { Hashes } from '../../core/archives/types.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError } from '../../core/errors.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { isPresent, safeRelativePath } from '../../core/files/safe-path.ts'
import { writeUpload } from '../../core/files/write-upload.ts'
import { assetsConfig } from '../assets/config.ts'
import { temporaryPath } from '../exports/text-file.ts'
import { findLayout } from '../library/locate-folder.ts'
import { firmwarePath } from '../library/structure.ts'
import { checkFileName, openFolder, withRefusals } from '../library/write-checks.ts'

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
/** The file mode before the umask, because others may share the library. */
const WRITABLE_MODE = 0o666

/** The firmware folder of one platform, ready for writing. */
export interface FirmwareFolder {
  library_id: number
  /** The path relative to the library. */
  path: string
  /** The absolute path, without symbolic links. */
  real: string
}

/** A complete staged file, under a name that scans skip. */
export interface StagedFirmware {
  file_name: string
  file_size_bytes: number
  hashes: Hashes
  /** Renames the file to its final name, in one step. @throws ApiError CONFLICT */
  publish (): Promise<void>
  /** Deletes the file, unless it was published. */
  discard (): Promise<void>
}

const tooLarge = (maxBytes: number, bytes: number | string) => new ApiError('TOO_LARGE',
  `The upload has ${bytes} bytes; ${maxBytes} are allowed. Raise MAX_ASSET_UPLOAD_SIZE_BYTES to send more`)

async function write (maxBytes: number, handle: FileHandle, folder: string, content: AsyncIterable<Buffer>) {
  const digest = new Digest()
  const limits = { folder, maxBytes, tooLarge: () => tooLarge(maxBytes, `more than ${maxBytes}`) }
  const size = await writeUpload(handle, content, limits, (chunk) => { digest.update(chunk) })
  return { file_size_bytes: size, hashes: digest.hashes() }
}

/** Creates access to the files of the firmware folders. */
export function createFirmwareFolders ({ library }: FastifyInstance, config: Config) {
  const { max_upload_bytes: maxBytes } = assetsConfig.of(config)

  return {
    /**
     * Prepares the folder, and creates it if needed. @throws ApiError CONFLICT, NO_FREE_SPACE, TOO_LARGE, UNAVAILABLE
     */
    async prepare (fsSlug: string, announcedBytes: number): Promise<FirmwareFolder> {
      if (maxBytes > 0 && announcedBytes > maxBytes) throw tooLarge(maxBytes, announcedBytes)
      const { root, structure } = await withRefusals(fsSlug, () => findLayout(library, fsSlug))
      const path = firmwarePath(structure, fsSlug)
      const real = await openFolder(root.dir, path)
      await requireFreeSpace(real, announcedBytes)
      return { library_id: root.id, path, real }
    },

    /** True if the folder holds an entry of one of the names. */
    async containsAny (folder: FirmwareFolder, names: readonly string[]): Promise<boolean> {
      const present = await Promise.all(names.map((name) => isPresent(join(folder.real, name))))
      return present.includes(true)
    },

    /** Writes an upload while it arrives. @throws ApiError; then no part of the file remains. */
    async stage (folder: FirmwareFolder, name: string, content: AsyncIterable<Buffer>): Promise<StagedFirmware> {
      checkFileName(name, library.rules)
      const temporary = temporaryPath(folder.real)
      const handle = await withRefusals(folder.path, () => open(temporary, NEW_FILE, WRITABLE_MODE))
      try {
        const facts = await withRefusals(folder.path, () => write(maxBytes, handle, folder.real, content))
          .finally(() => handle.close())
        const location = `${folder.path}/${name}`
        return {
          file_name: name,
          ...facts,
          publish: () => withRefusals(location, () => rename(temporary, join(folder.real, name))),
          discard: () => rm(temporary, { force: true })
        }
      } catch (err) {
        await rm(temporary, { force: true })
        throw err
      }
    },

    /**
     * Deletes a file.
     *
     * @throws the error of the file system, `ENOENT` when the file is gone already · ApiError CONFLICT, UNAVAILABLE
     */
    async remove (file: { library_id: number, file_path: string, file_name: string }): Promise<void> {
      const root = await library.getWritable(file.library_id)
      await library.requireMounted(root)
      const { dir } = root
      const folder = await realpath(join(dir, safeRelativePath(file.file_path)))
      await rm(join(folder, basename(file.file_name)))
    }
  }
}
export type FirmwareFolders = ReturnType<typeof createFirmwareFolders>
