import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Config } from '../../core/config/config.ts'
import { badRequest, forbidden } from '../../core/errors.ts'
import { LibraryUnreadableError } from '../library/directory.ts'
import { PathRefusedError, safeName } from '../../core/files/safe-path.ts'
import { type Structure, romsPath } from '../library/structure.ts'
import type { Scope } from '../../core/access/scopes.ts'
import { Rom } from '../roms/entities.ts'

const STRUCTURE_NAMES = { A: 'struct_a', B: 'struct_b' } as const

function checkName (name: string): string {
  try {
    return safeName(name)
  } catch (err) {
    if (err instanceof PathRefusedError) throw badRequest(err.message)
    throw err
  }
}

/** What the first-run wizard shows and does. */
export function createSetup (app: FastifyInstance, config: Config) {
  const { library_dir: libraryDir } = config
  const { library } = app
  let listing: Promise<string[]> | null = null

  /** Null as well when the library cannot be read: the answers a stranger gets must not fail with a disk. */
  async function findStructure (): Promise<Structure | null> {
    try {
      return await library.detectStructure()
    } catch (err) {
      if (!(err instanceof LibraryUnreadableError)) throw err
      app.log.warn({ err }, 'library cannot be read')
      return null
    }
  }

  async function listFolders (structure: Structure | null): Promise<string[]> {
    if (structure === null) return []
    try {
      return (await library.listPlatformFolders(structure)).platforms
    } catch (err) {
      if (!(err instanceof LibraryUnreadableError)) throw err
      app.log.warn({ err }, 'platform folders cannot be listed')
      return []
    }
  }

  async function countEntries (structure: Structure, fsSlug: string): Promise<number> {
    try {
      const names = await readdir(join(libraryDir, romsPath(structure, fsSlug)))
      return names.filter((name) => !name.startsWith('.')).length
    } catch (err) {
      app.log.warn({ err, platform: fsSlug }, 'platform folder cannot be read')
      return 0
    }
  }

  async function createFolder (structure: Structure, name: string): Promise<boolean> {
    try {
      await mkdir(join(libraryDir, romsPath(structure, name)), { recursive: true })
      return true
    } catch (err) {
      app.log.error({ err, platform: name }, 'platform folder cannot be created')
      return false
    }
  }

  /** Anyone may set up a server without an administrator; afterwards the scope is needed. */
  const isAllowed = async (caller: Caller | null, scope: Scope): Promise<boolean> =>
    caller?.scopes.has(scope) === true || !await app.users.hasAdmin()

  return {
    /** @throws ApiError FORBIDDEN */
    async checkAccess (caller: Caller | null, scope: Scope): Promise<void> {
      if (!await isAllowed(caller, scope)) throw forbidden()
    },

    /** The platform folders on disk. Those who ask at once share one look. */
    async listPlatforms (): Promise<string[]> {
      listing ??= findStructure().then(listFolders).finally(() => { listing = null })
      return await listing
    },

    async readLibrary (em: EntityManager, caller: Caller | null) {
      const structure = await findStructure()
      const isScanned = await em.count(Rom) > 0
      const hidden = await app.platforms.listHiddenFolders(em, caller)
      const folders = isScanned ? [] : (await listFolders(structure)).filter((folder) => !hidden.has(folder))
      const existing: { fs_slug: string, rom_count: number }[] = []
      for (const name of structure === null ? [] : folders) {
        if (structure !== null) existing.push({ fs_slug: name, rom_count: await countEntries(structure, name) })
      }
      return {
        detected_structure: structure === null ? null : STRUCTURE_NAMES[structure.kind],
        existing_platforms: existing,
        supported_platforms: await app.platforms.listSupported(em, caller)
      }
    },

    /**
     * Makes platform folders, in structure A when the library has none yet.
     *
     * @returns the names that could not be made.
     * @throws ApiError BAD_REQUEST naming the first name that cannot be a folder's; nothing is made then.
     */
    async createPlatforms (names: readonly string[]): Promise<string[]> {
      const checked = [...new Set(names.map(checkName))]
      const structure = await findStructure() ?? library.emptyStructure
      const failed: string[] = []
      for (const name of checked) {
        if (!await createFolder(structure, name)) failed.push(name)
      }
      return failed
    }
  }
}
export type Setup = ReturnType<typeof createSetup>
