import { type Archive, readVerified } from '../../core/archives/archive.ts'
import { type OpenArchive, formatOf } from '../../core/archives/formats.ts'
import { ArchiveError, Budget, DEFAULT_LIMITS, UNWATCHED } from '../../core/archives/limits.ts'
import { asArchiveError } from '../../core/archives/unpack.ts'
import { NoRoomError, type Output, PatchError, type Source } from './apply/files.ts'

const UNPACK = 'Unpack it, then patch the file'

/** The thread has a time limit of its own. Several patches may run at once, so none holds a large archive in memory. */
const WATCH = {
  ...UNWATCHED,
  reserveMemory () { throw new PatchError(`The archive is too large to be patched in this format. ${UNPACK}`) }
}

/** Returns the function that opens an archive, by the name of the file; null for other files. */
export function findOpener (name: string): OpenArchive | null {
  const format = formatOf(name)
  return format.kind === 'archive' ? format.open : null
}

async function writeOnly (archive: Archive, output: Output): Promise<string> {
  const members = await archive.list()
  const [only] = members
  if (only === undefined || members.length > 1) {
    throw new PatchError(`The archive contains ${members.length} files, and a patch belongs to one. ${UNPACK}`)
  }
  output.requireSize(only.size)
  for await (const entry of archive.entries()) {
    for await (const piece of readVerified(entry)) output.append(piece)
  }
  output.flush()
  return only.name
}

/**
 * Unpacks the only file of an archive.
 *
 * @returns the name of the file, as in the archive
 * @throws PatchError for an archive that is damaged, has several files or exceeds a limit; NoRoomError
 */
export async function unpackBase (open: OpenArchive, base: Source, output: Output): Promise<string> {
  try {
    return await writeOnly(await open(base, new Budget(base.size, DEFAULT_LIMITS, WATCH)), output)
  } catch (err) {
    if (err instanceof PatchError || err instanceof NoRoomError) throw err
    const problem = asArchiveError(err)
    throw problem instanceof ArchiveError ? new PatchError(`The archive cannot be read: ${problem.message}`) : problem
  }
}
