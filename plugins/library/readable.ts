import { LibraryUnreadableError, readLibraryDirectory } from './directory.ts'
import type { Library } from './service.ts'

/**
 * The folders of libraries that can be read, by id; in others everything would look gone.
 *
 * @throws {LibraryUnreadableError} when none can
 */
export async function findReadable (library: Pick<Library, 'list'>): Promise<Map<number, string>> {
  const dirs = new Map<number, string>()
  const problems: LibraryUnreadableError[] = []
  for (const { id, dir } of await library.list()) {
    try {
      await readLibraryDirectory(dir)
      dirs.set(id, dir)
    } catch (err) {
      if (!(err instanceof LibraryUnreadableError)) throw err
      problems.push(err)
    }
  }
  if (dirs.size === 0 && problems[0] !== undefined) throw problems[0]
  return dirs
}
