import type { Config } from '../../core/config/config.ts'
import { findFolderRefusals } from '../../core/config/library-folders.ts'
import type { Db } from '../../core/database/db.ts'
import { ApiError, conflict } from '../../core/errors.ts'
import { selectFilled } from './library-rows.ts'
import { EMPTY_ROOT, findRootProblem } from './root-problem.ts'
import { type LibraryRoot, readRoots } from './roots.ts'

/** Creates the checks that a library's folder is allowed by config.yml, mounted, and readable. */
export function createRootChecks (db: Db, config: Config) {
  let checked: { of: Config['libraries'], refusals: Promise<ReadonlyMap<string, string>> } | null = null

  /**
   * Returns the reasons against folders of config.yml, by library. The start checks the folders too, but the file may
   * change later.
   */
  function readRefusals (): Promise<ReadonlyMap<string, string>> {
    const { libraries, data_dir: dataDir } = config
    if (checked?.of !== libraries) checked = { of: libraries, refusals: findFolderRefusals(readRoots(config), dataDir) }
    return checked.refusals
  }

  /** Returns the reason against the folder of a library; null if there is none. */
  async function findRefusal ({ name }: LibraryRoot): Promise<string | null> {
    const reason = (await readRefusals()).get(name)
    return reason === undefined ? null : `${reason}, as libraries.${name}.path in config.yml`
  }

  /**
   * Returns the reason why a library cannot be read. An empty library is no problem if it never contained a platform.
   */
  async function findProblem (root: LibraryRoot, listFilled = () => selectFilled(db)): Promise<string | null> {
    const { id, dir } = root
    const problem = await findRefusal(root) ?? await findRootProblem(dir)
    return problem !== EMPTY_ROOT || (await listFilled()).has(id) ? problem : null
  }

  /** @throws ApiError CONFLICT if the folder must not be a library */
  async function requireAllowed (root: LibraryRoot): Promise<void> {
    const refusal = await findRefusal(root)
    if (refusal !== null) throw conflict(`The library '${root.name}' is not used: ${refusal}`)
  }

  /** @throws ApiError CONFLICT if its folder must not be a library · UNAVAILABLE if the library cannot be read now */
  async function requireMounted (root: LibraryRoot): Promise<void> {
    await requireAllowed(root)
    const problem = await findProblem(root)
    if (problem === null) return
    throw new ApiError('UNAVAILABLE', `The library '${root.name}' is not mounted: ${problem}. Mount its disk, then try again`)
  }

  return { readRefusals, findRefusal, findProblem, requireAllowed, requireMounted }
}
