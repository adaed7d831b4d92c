import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { type LibraryRow, lockLibraries, selectLibraries, upsertLibrary } from './library-rows.ts'
import type { FilesystemSettings } from './structure.ts'

/** A configured root folder that contains platforms. */
export interface LibraryRoot {
  id: number
  name: string
  /** Absolute path. */
  dir: string
  is_writable: boolean
  is_watched: boolean
  filesystem: FilesystemSettings
}

type Settings = Pick<Config, 'libraries' | 'library_dir' | 'filesystem'>
type ConfiguredRoot = Omit<LibraryRoot, 'id'>

/** Name of the only library if the configuration names none. */
const UNNAMED = 'library'

/** Returns the configured libraries in their order; else the one of `SVC_LIBRARY_DIR`. */
export function readRoots ({ libraries, library_dir: dir, filesystem }: Settings): ConfiguredRoot[] {
  const listed = Object.entries(libraries).map(([name, { path, writable, watched, structure }]) => ({
    name,
    dir: resolve(path),
    is_writable: writable,
    is_watched: watched,
    filesystem: structure === undefined
      ? filesystem
      : { ...filesystem, structure: { ...filesystem.structure, default: structure } }
  }))
  return listed.length > 0 ? listed : [{ name: UNNAMED, dir, is_writable: true, is_watched: true, filesystem }]
}

/**
 * Assigns a row to each library: the row of its name, else a row of its folder whose name is unused, else a new row.
 *
 * @returns the new rows, in the order of the libraries
 */
export function assignRows (roots: readonly Pick<ConfiguredRoot, 'name' | 'dir'>[], rows: readonly LibraryRow[]): LibraryRow[] {
  const names = new Set(roots.map(({ name }) => name))
  const renamed = rows.filter(({ name }) => !names.has(name))
  let last = Math.max(0, ...rows.map(({ id }) => id))
  return roots.map(({ name, dir }) => {
    const at = renamed.findIndex(({ root }) => root === dir)
    const stored = rows.find((row) => row.name === name) ?? renamed.splice(at, at === -1 ? 0 : 1)[0]
    return { id: stored?.id ?? ++last, name, root: dir }
  })
}

async function loadRows (db: Db, roots: readonly ConfiguredRoot[]): Promise<LibraryRow[]> {
  const rows = await selectLibraries(db)
  const assigned = assignRows(roots, rows)
  if (assigned.every((row) => rows.some((stored) => isDeepStrictEqual(stored, row)))) return assigned
  return await inTransaction(db, async (tx) => {
    await lockLibraries(tx)
    const assigned = assignRows(roots, await selectLibraries(tx))
    for (const row of assigned) await upsertLibrary(tx, row)
    return assigned
  })
}

/**
 * Returns a function that lists the libraries of the current configuration, which follows its file. The rows are loaded
 * once per configuration.
 */
export function createRoots (db: Db, config: Settings) {
  let cached: { of: Config['libraries'], rows: Promise<LibraryRow[]> } | null = null

  return async function list (): Promise<LibraryRoot[]> {
    const { libraries } = config
    const roots = readRoots(config)
    if (cached?.of !== libraries) {
      const rows = loadRows(db, roots)
      const entry = cached = { of: libraries, rows }
      rows.catch(() => { if (cached === entry) cached = null })
    }
    const rows = await cached.rows
    return roots.flatMap((root) => rows.filter(({ name }) => name === root.name).map(({ id }) => ({ id, ...root })))
  }
}
