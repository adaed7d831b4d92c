import { resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { createPathMask } from '../../core/config/path-mask.ts'
import { badRequest, conflict, notFound } from '../../core/errors.ts'
import type { LibraryRoot } from '../library/roots.ts'
import { markPlatforms } from '../scans/platform-rows.ts'
import { checkRoot } from './check-root.ts'
import { createFactsReader } from './library-facts.ts'
import { deleteFiles, selectPlatformIds } from './rows.ts'
import type { AddLibrary, ChangeLibrary, LibraryView } from './schemas.ts'
import { describe, hasOwnStructure, isListed, listUnnamed, removeChange, toChanges } from './section-changes.ts'
import { type LibraryFacts, toLibraryView } from './views.ts'

const NAME = /^[\p{L}\p{N}](?:.*\S)?$/u

const libraryNotFound = (id: number) => notFound(`Library with ID '${id}' not found`)
const nameTaken = (name: string) => conflict(`A library '${name}' already exists; send another name`)

function checkName (name: string, roots: readonly LibraryRoot[], ownId: number | null): void {
  if (!NAME.test(name)) throw badRequest(`The name '${name}' does not begin with a letter or digit, or ends with a space; give another one`)
  if (!roots.some((root) => root.name === name && root.id !== ownId)) return
  throw nameTaken(name)
}

/** Lists the changes of the section of a library; a new name makes a new entry. @throws ApiError CONFLICT */
function listChanges (content: unknown, root: LibraryRoot, { name, ...input }: ChangeLibrary) {
  if (name === undefined || name === root.name) return toChanges(root.name, input)
  if (isListed(content, name)) throw nameTaken(name)
  const isOwn = hasOwnStructure(content, root.name)
  return [...toChanges(name, { ...describe(root, isOwn), ...input }), removeChange(root)]
}

/** Creates the service that lists libraries and changes their section of config.yml. */
export function createLibraries (app: FastifyInstance, config: Config) {
  const mask = createPathMask(config)
  const readFacts = createFactsReader(app)

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
      await app.settings.change((content) =>
        [...listUnnamed(content, roots), ...listChanges(content, root, { name, ...input })])
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
