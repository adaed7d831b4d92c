import { join } from 'node:path'
import type { Config } from '../../core/config/config.ts'
import type { SectionOf } from '../../core/config/section.ts'
import type { Db } from '../../core/database/db.ts'
import { conflict, notFound } from '../../core/errors.ts'
import { excludeConfig } from './config.ts'
import { type ExclusionRules, type ReservedNames, NO_RESERVED_NAMES, createExclusions } from './exclusions.ts'
import { selectFilled, selectHomes, selectKnownFolder } from './library-rows.ts'
import { isAway } from './detached-folder.ts'
import { createRootChecks } from './root-checks.ts'
import type { LibraryState } from './root-problem.ts'
import { LibraryUnreadableError } from './directory.ts'
import { libraryReadOnly } from './read-only.ts'
import { type LibraryRoot, createRoots } from './roots.ts'
import { type Structure, detectStructure, listPlatformFolders } from './structure.ts'

/** Creates the reader of the rules in config.yml, which compiles them once per change of the file. */
function createRulesReader (config: Config, reserved: ReservedNames): () => ExclusionRules {
  let cached: { of: SectionOf<typeof excludeConfig>, rules: ExclusionRules } | null = null

  return function readRules () {
    const exclude = excludeConfig.of(config)
    if (cached?.of !== exclude) cached = { of: exclude, rules: createExclusions(exclude, reserved) }
    return cached.rules
  }
}

/**
 * Creates the service of the configured libraries.
 *
 * @param reserved names that are not ROMs, because exporters write them
 */
export function createLibrary (db: Db, config: Config, reserved: ReservedNames = NO_RESERVED_NAMES) {
  const listRoots = createRoots(db, config)
  const readRules = createRulesReader(config, reserved)
  const { readRefusals, findRefusal, findProblem, requireAllowed, requireMounted } = createRootChecks(db, config)

  /** Lists all libraries. Nothing is written or watched in a folder that must not be a library. */
  async function list (): Promise<LibraryRoot[]> {
    const [roots, refusals] = await Promise.all([listRoots(), readRefusals()])
    return roots.map((root) => refusals.has(root.name) ? { ...root, is_writable: false, is_watched: false } : root)
  }

  /** @throws ApiError NOT_FOUND for a library that is not configured any more */
  async function get (id: number): Promise<LibraryRoot> {
    const root = (await list()).find((one) => one.id === id)
    if (root === undefined) throw notFound(`The library with ID '${id}' is not configured; list it under libraries in config.yml`)
    return root
  }

  /**
   * True if a platform's folder does not contain its known ROMs.
   *
   * @param path relative to the library
   */
  const isFolderAway = async ({ id, dir }: LibraryRoot, platformId: number, path: string): Promise<boolean> =>
    await isAway(join(dir, path), await selectKnownFolder(db, platformId, id))

  return {
    /** The current rules. Long-running code keeps one state of them, or reads them again. */
    get rules () { return readRules() },

    /** The configured libraries in their order; there is always one. */
    list,
    get,

    /** @throws ApiError NOT_FOUND · CONFLICT if the library is read-only */
    async getWritable (id: number): Promise<LibraryRoot> {
      const root = await get(id)
      if (root.is_writable) return root
      await requireAllowed(root)
      throw libraryReadOnly(root)
    },

    /** Returns the current state of each library. An empty library is no problem if it never contained a platform. */
    async checkLibraries (): Promise<LibraryState[]> {
      const [roots, filled] = await Promise.all([list(), selectFilled(db)])
      return await Promise.all(roots.map(async (root) =>
        ({ root, problem: await findProblem(root, async () => filled) })))
    },

    isFolderAway,
    findProblem: (root: LibraryRoot): Promise<string | null> => findProblem(root),
    requireMounted,

    /** @throws {LibraryUnreadableError} if the folder must not be a library */
    async requireScannable (root: LibraryRoot): Promise<void> {
      const refusal = await findRefusal(root)
      if (refusal !== null) throw new LibraryUnreadableError(root.dir, refusal, 'Correct the file')
    },

    /**
     * Checks that a platform's folder is present before a caller treats missing files as deleted.
     *
     * @param path the folder, relative to the library
     * @throws ApiError UNAVAILABLE while the library is not mounted · CONFLICT while the folder is not the known one
     */
    async requireFolder (root: LibraryRoot, platformId: number, path: string): Promise<void> {
      await requireMounted(root)
      if (!await isFolderAway(root, platformId, path)) return
      throw conflict(`'${path}' does not contain its known ROMs; mount its disk, or scan the platform if the ROMs were deleted`)
    },

    /** Returns the libraries that contained a platform at its last scan. */
    listHomes: (fsSlug: string): Promise<ReadonlySet<number>> => selectHomes(db, fsSlug),

    /** The layout that a library without any ROM folder gets. */
    get emptyStructure (): Structure {
      const { roms_folder: romsFolder, firmware_folder: firmwareFolder } = config.filesystem
      return { kind: 'A', romsFolder, firmwareKind: 'A', firmwareFolder }
    },

    /**
     * Returns null if the library contains no ROM folder yet.
     *
     * @throws {LibraryUnreadableError}
     */
    detectStructure: ({ dir, filesystem }: LibraryRoot) => detectStructure(dir, filesystem, readRules()),

    /** @throws {LibraryUnreadableError} */
    listPlatformFolders: ({ dir }: LibraryRoot, structure: Structure) =>
      listPlatformFolders(dir, structure, readRules())
  }
}
export type Library = ReturnType<typeof createLibrary>
