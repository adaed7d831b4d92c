import { join } from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import { badRequest, forbidden } from '../../core/errors.ts'
import { isExcluded } from '../entries/entries.ts'
import { LibraryUnreadableError, readLibraryDirectory } from '../library/directory.ts'
import { PathRefusedError, safeName } from '../../core/files/safe-path.ts'
import { findLayout } from '../library/locate-folder.ts'
import type { LibraryRoot } from '../library/roots.ts'
import { type Structure, listFolders, romsPath } from '../library/structure.ts'
import { openFolder } from '../library/write-checks.ts'
import type { Scope } from '../../core/access/scopes.ts'
import { Rom } from '../roms/entities.ts'

/** The most folders that are named as misplaced; a few tell people which ones are meant. */
const MISPLACED_MAX = 20
const STRUCTURE_NAMES = { A: 'struct_a', B: 'struct_b' } as const

function checkName (name: string): string {
  try {
    return safeName(name)
  } catch (err) {
    if (err instanceof PathRefusedError) throw badRequest(err.message)
    throw err
  }
}

/** The structure and the platform folders of one library on disk. */
interface LibraryOnDisk { root: LibraryRoot, structure: Structure, folders: string[] }

/** Returns null if the library cannot be read, because a failing disk must not fail requests without a credential. */
async function findLibrary ({ library, log }: FastifyInstance, root: LibraryRoot): Promise<LibraryOnDisk | null> {
  try {
    const structure = await library.detectStructure(root)
    return structure && { root, structure, folders: (await library.listPlatformFolders(root, structure)).platforms }
  } catch (err) {
    if (!(err instanceof LibraryUnreadableError)) throw err
    log.warn({ err }, 'library cannot be read')
    return null
  }
}

/** Lists the folders that lie directly in a library without platform folders, as in the ROM folder of ES-DE. */
async function listMisplaced ({ library }: FastifyInstance, root: LibraryRoot): Promise<string[]> {
  try {
    if (await library.detectStructure(root) !== null) return []
    const { platforms } = await listFolders(root.dir, '', library.rules)
    return platforms.filter((name) => !name.startsWith('.') && name !== root.filesystem.firmware_folder)
  } catch (err) {
    if (err instanceof LibraryUnreadableError) return []
    throw err
  }
}

/** Lists such folders of all libraries, without those that are hidden from the caller. */
async function listAllMisplaced (app: FastifyInstance, hidden: ReadonlySet<string>) {
  const misplaced = await Promise.all((await app.library.list()).map(async (root) => ({
    library: root.name,
    roms_folder: root.filesystem.roms_folder,
    folders: (await listMisplaced(app, root)).filter((folder) => !hidden.has(folder)).slice(0, MISPLACED_MAX)
  })))
  return misplaced.filter(({ folders }) => folders.length > 0)
}

/** Returns the readable libraries with their platform folders. */
async function findLibraries (app: FastifyInstance): Promise<LibraryOnDisk[]> {
  const roots = await app.library.list()
  return (await Promise.all(roots.map((root) => findLibrary(app, root)))).filter((found) => found !== null)
}

/** Counts what a scan would read, without names that start with a dot. */
async function countEntries ({ library, log }: FastifyInstance, path: string, fsSlug: string): Promise<number> {
  try {
    const items = await readLibraryDirectory(path)
    return items.filter((item) => !item.name.startsWith('.') && !isExcluded(library.rules, item)).length
  } catch (err) {
    if (!(err instanceof LibraryUnreadableError)) throw err
    log.warn({ err, platform: fsSlug }, 'platform folder cannot be read')
    return 0
  }
}

/** @returns false if the folder could not be created */
async function createFolder ({ library, log }: FastifyInstance, name: string): Promise<boolean> {
  try {
    const { root, structure } = await findLayout(library, name)
    await openFolder(root.dir, romsPath(structure, name))
    return true
  } catch (err) {
    log.error({ err, platform: name }, 'platform folder cannot be created')
    return false
  }
}

/** Creates the operations of the first-run wizard. */
export function createSetup (app: FastifyInstance) {
  let listing: Promise<string[]> | null = null

  return {
    /**
     * Checks that the caller holds the scope, or is setting up a server that has no administrator yet.
     *
     * @throws ApiError FORBIDDEN, TOO_MANY_REQUESTS after many wrong codes
     */
    async checkAccess (request: FastifyRequest, scope: Scope, code: string | undefined): Promise<void> {
      if (request.caller?.scopes.has(scope) === true) return
      if (await app.users.hasAdmin()) throw forbidden()
      await app.users.checkSetup(request, code)
    },

    /** Lists the platform folders on disk. Concurrent calls share one read. */
    async listPlatforms (): Promise<string[]> {
      listing ??= findLibraries(app).then((found) => [...new Set(found.flatMap(({ folders }) => folders))])
        .finally(() => { listing = null })
      return await listing
    },

    async readLibrary (context: Context<Caller | null>) {
      const { db } = context
      const found = await findLibraries(app)
      const isScanned = await db.em.count(Rom) > 0
      const hidden = await app.platforms.listHiddenFolders(context)
      const counts = new Map<string, number>()
      for (const { root, structure, folders } of isScanned ? [] : found) {
        for (const name of folders.filter((folder) => !hidden.has(folder))) {
          const count = await countEntries(app, join(root.dir, romsPath(structure, name)), name)
          counts.set(name, (counts.get(name) ?? 0) + count)
        }
      }
      return {
        detected_structure: found[0] === undefined ? null : STRUCTURE_NAMES[found[0].structure.kind],
        existing_platforms: [...counts].map(([name, count]) => ({ fs_slug: name, rom_count: count })),
        supported_platforms: await app.platforms.listSupported(context),
        misplaced_folders: await listAllMisplaced(app, hidden)
      }
    },

    /**
     * Creates platform folders, in structure A if the library has none yet.
     *
     * @returns the names of the folders that could not be created
     * @throws ApiError BAD_REQUEST with the first name that is not a valid folder name; then no folder is created.
     */
    async createPlatforms (names: readonly string[]): Promise<string[]> {
      const checked = [...new Set(names.map(checkName))]
      const failed: string[] = []
      for (const name of checked) if (!await createFolder(app, name)) failed.push(name)
      return failed
    }
  }
}
export type Setup = ReturnType<typeof createSetup>
