import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../core/config/config.ts'
import { ApiError, badRequest } from '../../core/errors.ts'
import { LibraryUnreadableError, isFolder, reasonOf } from '../../core/library/directory.ts'
import { createExclusions } from '../../core/library/exclusions.ts'
import { PathRefusedError, resolveInside, safeName } from '../../core/library/safe-path.ts'
import { type Structure, detectStructure, listPlatformFolders, romsPath } from '../../core/library/structure.ts'

/** The answer says what is wrong with the library; where it lies is for the log only. */
async function reading<T> (work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (err) {
    if (err instanceof PathRefusedError) throw badRequest(err.message)
    if (!(err instanceof LibraryUnreadableError)) throw err
    throw new ApiError('UNAVAILABLE', `The library cannot be read: ${reasonOf(err.cause)}. Check SVC_LIBRARY_DIR and its ` +
      'permissions', { cause: err })
  }
}

/** The platform folders of the library. */
export function createPlatformFolders (config: Config) {
  const rules = createExclusions(config.exclude)
  const libraryDir = config.library_dir

  /** What a library without any ROM folder becomes. */
  const emptyStructure = (): Structure => ({
    kind: 'A',
    romsFolder: config.filesystem.roms_folder,
    firmwareKind: 'A',
    firmwareFolder: config.filesystem.firmware_folder
  })

  return {
    /** @throws ApiError UNAVAILABLE when the library cannot be read. */
    list: () => reading(async () => {
      const structure = await detectStructure(libraryDir, config.filesystem, rules)
      return structure === null ? [] : (await listPlatformFolders(libraryDir, structure, rules)).platforms
    }),

    /**
     * Makes a platform's ROM folder unless it is there.
     *
     * @throws ApiError BAD_REQUEST for a name that cannot be a platform's folder, UNAVAILABLE.
     */
    create: (fsSlug: string) => reading(async () => {
      safeName(fsSlug)
      if (rules.isExcludedPlatform(fsSlug)) {
        throw badRequest(`Folder '${fsSlug}' is excluded; take it out of exclude.platforms or choose another name`)
      }
      const structure = await detectStructure(libraryDir, config.filesystem, rules) ?? emptyStructure()
      const path = romsPath(structure, fsSlug)
      if (await isFolder(join(libraryDir, path))) return
      await mkdir(await resolveInside(libraryDir, path), { recursive: true })
    })
  }
}
