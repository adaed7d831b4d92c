import type { Context } from '../../core/access/context.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { type HiddenRom, selectHidden } from './rows.ts'
import type { ExportOutcome, ExportedFile } from './schemas.ts'

function hideRomsInFile (file: ExportedFile, hidden: readonly HiddenRom[]): ExportedFile {
  const folders = new Set(file.path.split(/[\\/]/))
  const hiddenHere = hidden.filter(({ slug, library_id: library, fs_slug: fsSlug }) =>
    slug === file.platform && library === file.library_id && folders.has(fsSlug))
  if (hiddenHere.length === 0) return file
  const ids = new Set(hiddenHere.map((rom) => rom.id))
  const skipped = file.skipped.filter((rom) => !ids.has(rom.rom_id))
  const exported = hiddenHere.filter((rom) => rom.is_exported).length - (file.skipped.length - skipped.length)
  // Media errors are removed, because the files are named after hidden games.
  return { ...file, skipped, games: Math.max(0, file.games - exported), media_errors: [] }
}

/** Replaces the machine's own paths in the outcome. */
export function maskPaths ({ files, errors }: ExportOutcome, mask: (text: string) => string): ExportOutcome {
  return {
    files: files.map((file) => ({
      ...file,
      path: mask(file.path),
      media_errors: file.media_errors.map((error) => ({ ...error, reason: mask(error.reason) }))
    })),
    errors: errors.map((error) => ({ ...error, path: mask(error.path), reason: mask(error.reason) }))
  }
}

/** Removes hidden ROMs from the outcome of an export. The written files belong to the library and contain all ROMs. */
export async function hideRoms (
  context: Context<AnyCaller>, outcome: ExportOutcome
): Promise<ExportOutcome> {
  const { caller } = context
  if (caller === null || caller.access.is_admin) return outcome
  const hidden = await selectHidden(context, [...new Set(outcome.files.map((file) => file.platform))])
  return { ...outcome, files: outcome.files.map((file) => hideRomsInFile(file, hidden)) }
}
