import { statfs } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { type Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import { type Config, getAt } from '../../core/config/config.ts'
import { createPathMask } from '../../core/config/path-mask.ts'
import { badRequest, conflict, notFound } from '../../core/errors.ts'
import { createLibraryCache } from '../library/library-cache.ts'
import type { LibraryRoot } from '../library/roots.ts'
import { selectVersions } from '../library/version-rows.ts'
import { callerKey } from '../platforms/visibility.ts'
import { markPlatforms } from '../scans/platform-rows.ts'
import type { Change } from '../settings/document.ts'
import { checkRoot } from './check-root.ts'
import {
  type LibrarySize, deleteFiles, selectLibrarySizes, selectPlatformIds, selectStoredLibraries
} from './rows.ts'
import type { AddLibrary, ChangeLibrary, LibraryView } from './schemas.ts'
import { type LibraryFacts, EMPTY_LIBRARY_SIZE, type DiskSpace, toLibraryView } from './views.ts'

const SIZES_MAX_BYTES = 1024 ** 2
const BYTES_PER_SIZE = 200
const SECTION = 'libraries'
const NAME = /^[\p{L}\p{N}](?:.*\S)?$/u

const libraryNotFound = (id: number) => notFound(`Library with ID '${id}' not found`)

/** Returns null if the system does not report the space. */
async function readRoom (dir: string): Promise<DiskSpace | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(dir)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch {
    return null
  }
}

const nameTaken = (name: string) => conflict(`A library '${name}' already exists; send another name`)
const removeChange = ({ name }: LibraryRoot): Change => ({ path: [SECTION, name], value: undefined })

const isListed = (content: unknown, name: string): boolean => getAt(content, [SECTION, name]) !== undefined

/** Returns changes for the keys of a library in config.yml; absent fields stay unchanged. */
function toChanges (name: string, { path, writable, watched, structure }: ChangeLibrary): Change[] {
  const at = (key: string) => [SECTION, name, key]
  return [
    ...(path === undefined ? [] : [{ path: at('path'), value: resolve(path) }]),
    ...(writable === undefined ? [] : [{ path: at('writable'), value: writable }]),
    ...(watched === undefined ? [] : [{ path: at('watched'), value: watched }]),
    ...(structure === undefined ? [] : [{ path: at('structure'), value: structure ?? undefined }])
  ]
}

/**
 * Returns all configured values of a library that is about to be listed, or renamed, in config.yml.
 *
 * @param isOwn true if the structure belongs to this library, not to all
 */
function describe (root: LibraryRoot, isOwn: boolean): ChangeLibrary {
  const { default: structure } = root.filesystem.structure
  return {
    path: root.dir,
    ...(root.is_writable ? {} : { writable: false }),
    ...(root.is_watched ? {} : { watched: false }),
    ...(isOwn && structure !== undefined ? { structure } : {})
  }
}

export function createLibraries (app: FastifyInstance, config: Config) {
  const mask = createPathMask(config)
  const sizes = createLibraryCache<ReadonlyMap<number, LibrarySize>>({
    maxBytes: SIZES_MAX_BYTES, sizeOf: (key) => key.size * BYTES_PER_SIZE
  })

  async function readSizes ({ db, caller }: Context): Promise<ReadonlyMap<number, LibrarySize>> {
    return await sizes.get(await selectVersions(db, null), { caller: callerKey(caller), of: 'libraries' },
      () => selectLibrarySizes(app.longReads, caller))
  }

  /** Returns the configured libraries in their order, then removed libraries that still have ROMs. */
  async function readFacts (context: Context): Promise<LibraryFacts[]> {
    const { db } = context
    const states = await app.library.checkLibraries()
    const [stored, knownIds] = await Promise.all([selectStoredLibraries(db), readSizes(context)])
    const sizeOf = (id: number) => knownIds.get(id) ?? EMPTY_LIBRARY_SIZE
    const configured = await Promise.all(states.map(async ({ root, problem }) => {
      const row = stored.find(({ id }) => id === root.id) ??
        { id: root.id, name: root.name, root: root.dir, scan_id: null, scanned_at: null, problem: null }
      const room = problem === null ? await readRoom(root.dir) : null
      return { stored: row, root, problem, size: sizeOf(root.id), room }
    }))
    const unconfigured = stored.filter(({ id }) => knownIds.has(id) && !states.some(({ root }) => root.id === id))
    return [...configured, ...unconfigured.map((row) => ({
      stored: row, root: null, problem: 'it is not configured any more', size: sizeOf(row.id), room: null
    }))]
  }

  const toView = (facts: LibraryFacts, caller: Caller) => toLibraryView(facts, caller.access.is_admin ? null : mask)

  async function list (context: Context): Promise<LibraryView[]> {
    const { caller } = context
    return (await readFacts(context)).map((facts) => toView(facts, caller))
  }

  async function find (context: Context, id: number): Promise<LibraryFacts> {
    const facts = (await readFacts(context)).find(({ stored }) => stored.id === id)
    if (facts === undefined) throw libraryNotFound(id)
    return facts
  }

  const get = async (context: Context, id: number): Promise<LibraryView> =>
    toView(await find(context, id), context.caller)

  function checkName (name: string, roots: readonly LibraryRoot[], ownId: number | null): void {
    if (!NAME.test(name)) throw badRequest(`The name '${name}' does not begin with a letter or digit, or ends with a space; give another one`)
    if (!roots.some((root) => root.name === name && root.id !== ownId)) return
    throw nameTaken(name)
  }

  /** Lists changes that add all unlisted libraries to the file, before one of them is changed. */
  function listUnnamed (content: unknown, roots: readonly LibraryRoot[]): Change[] {
    return roots.filter(({ name }) => !isListed(content, name))
      .flatMap((root) => toChanges(root.name, describe(root, false)))
  }

  return {
    list,
    get,

    /** @throws ApiError BAD_REQUEST · CONFLICT · CONFIG_NOT_WRITABLE */
    async add (context: Context, { name, ...input }: AddLibrary): Promise<LibraryView> {
      const roots = await app.library.list()
      checkName(name, roots, null)
      await checkRoot(input.path, roots, config.data_dir)
      await app.settings.change((content) => {
        // The second of two concurrent requests finds the library of the first in the file.
        if (isListed(content, name)) throw nameTaken(name)
        return [...listUnnamed(content, roots), ...toChanges(name, input)]
      })
      const added = (await app.library.list()).find((root) => root.name === name)
      if (added === undefined) throw conflict('Somebody else changed config.yml at the same moment; check the file and try again')
      return await get(context, added.id)
    },

    /** @throws ApiError NOT_FOUND · BAD_REQUEST · CONFLICT · CONFIG_NOT_WRITABLE */
    async change (
      context: Context, id: number, { name, ...input }: ChangeLibrary
    ): Promise<LibraryView> {
      const roots = await app.library.list()
      const root = roots.find((one) => one.id === id)
      if (root === undefined) throw libraryNotFound(id)
      if (name !== undefined && name !== root.name && input.path !== undefined && resolve(input.path) !== root.dir) {
        throw badRequest('The name and the path identify the library; change one of them per request')
      }
      checkName(name ?? root.name, roots, id)
      if (input.path !== undefined) await checkRoot(input.path, roots.filter((one) => one.id !== id), config.data_dir)
      await app.settings.change((content) => {
        const first = listUnnamed(content, roots)
        if (name === undefined || name === root.name) return [...first, ...toChanges(root.name, input)]
        if (isListed(content, name)) throw nameTaken(name)
        const isOwn = getAt(content, [SECTION, root.name, 'structure']) !== undefined
        return [...first, ...toChanges(name, { ...describe(root, isOwn), ...input }), removeChange(root)]
      })
      return await get(context, id)
    },

    /**
     * Removes a library from the configuration. Its files stay. Its rows stay unless `deletesRows` is set.
     *
     * @throws ApiError NOT_FOUND · CONFLICT for the last one · CONFIG_NOT_WRITABLE
     */
    async remove (context: Context, id: number, deletesRows: boolean): Promise<void> {
      const { root } = await find(context, id)
      const roots = await app.library.list()
      if (root !== null) {
        if (roots.length === 1) throw conflict(`'${root.name}' is the only library; add another one before you remove it`)
        await app.settings.change((content) => isListed(content, root.name) ? [removeChange(root)] : [])
      }
      if (!deletesRows) return
      await markPlatforms(app.db, id, [], await selectPlatformIds(app.db, id))
      await deleteFiles(app.db, id)
    }
  }
}
export type Libraries = ReturnType<typeof createLibraries>
