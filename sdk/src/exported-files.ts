import { posix } from 'node:path'
import type { ExportGame, ExporterDefinition } from './exporter.ts'
import { toSearchTerm } from './titles/index.ts'

/**
 * Returns the folder of a game whose path leads to a file in it; null for any other game. Earlier exports may have
 * named the folder.
 */
export function gameFolder ({ path, fs_name: name }: Pick<ExportGame, 'path' | 'fs_name'>): string | null {
  const folder = posix.dirname(path)
  return posix.basename(folder) === name ? folder : null
}

/**
 * Returns the name that the last export took from the file of a game without a name; null if that file had the same
 * name then. An exporter replaces only this name in the existing text.
 */
export function formerGameName ({ former_path: path }: Pick<ExportGame, 'former_path'>): string | null {
  return path === undefined ? null : toSearchTerm(posix.basename(path))
}

/**
 * True if a file is one that the host published for the game and deleted since, so that a reference to it in the
 * existing text goes. A reference to a file that exists stays, and so does one that only the user can have written.
 *
 * @param file relative to the platform folder and normalized, like `game.path`
 * @param folders the `media` of the exporter
 */
export function isDeletedMedia (
  file: string, { path, media_files: files = [] }: Pick<ExportGame, 'path' | 'media_files'>,
  folders: ExporterDefinition['media']
): boolean {
  const slash = file.indexOf('/')
  const name = withoutExtension(file.slice(slash + 1))
  return slash !== -1 && Object.values(folders).includes(file.slice(0, slash)) && !files.includes(file) &&
    (name === withoutExtension(path) || name === path)
}

function withoutExtension (path: string): string {
  return path.slice(0, path.length - posix.extname(path).length)
}
