import { posix } from 'node:path'
import { type ExportGame, type ExportPlatform, type ExportResult, gameFolder } from '@svc/plugin-sdk'
import { listCollectionFields, listGameFields } from './fields.ts'
import { type Entry, mergeMetadata, writeMetadata } from './merge.ts'

/**
 * Renders the whole text of a platform's metadata.pegasus.txt.
 *
 * @param existing the current text; null and white space alone mean none.
 * @param launch the command for a collection that has none.
 */
export function renderPegasus (
  platform: ExportPlatform, games: readonly ExportGame[], existing: string | null, launch: string | null
): ExportResult {
  const entries = new Map<string, Entry>()
  const skipped: ExportResult['skipped'] = []
  for (const game of games) {
    const reason = findObstacle(game, entries)
    if (reason !== null) skipped.push({ rom_id: game.rom_id, reason })
    else {
      const { path, former_path: former = null, media_files: files = [] } = game
      entries.set(path, { path, former, media_files: files, folder: gameFolder(game), fields: listGameFields(game) })
    }
  }
  const collection = listCollectionFields(platform, launch)
  const isNew = existing === null || existing.trim() === ''
  const list = [...entries.values()]
  return { text: isNew ? writeMetadata(collection, list) : mergeMetadata(existing, collection, list), skipped }
}

function findObstacle ({ path, fs_name: fileName }: ExportGame, entries: ReadonlyMap<string, Entry>): string | null {
  const remedy = 'which this format cannot hold. Rename the file and scan again.'
  // The path of a folder leads to the file that starts the game.
  const spaced = [fileName, posix.basename(path)].find((name) => /^[\s\u0085]|[\s\u0085]$/.test(name))
  if (spaced !== undefined) return `The name "${spaced}" begins or ends with a space, ${remedy}`
  if (/[\0\r\n]|\p{Cs}/u.test(path)) {
    return `The path ${JSON.stringify(path)} has a line break or an invalid character, ${remedy}`
  }
  return entries.has(path) ? `Another ROM of the platform has the path "${path}".` : null
}
