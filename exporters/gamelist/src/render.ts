import { type ExportGame, type ExportResult, gameFolder } from '@svc/plugin-sdk'
import { listFields } from './fields.ts'
import type { MediaChoice } from './media.ts'
import { type Entry, mergeGamelist, writeGamelist } from './merge.ts'
import { isWritable } from './text.ts'

/**
 * Renders the whole text of a platform's gamelist.xml.
 *
 * @param existing the current text; null and white space alone mean none.
 * @throws Error when the existing text cannot be parsed; the message says what to do.
 */
export function renderGamelist (
  games: readonly ExportGame[], existing: string | null, choice: MediaChoice
): ExportResult {
  const entries = new Map<string, Entry>()
  const skipped: ExportResult['skipped'] = []
  for (const game of games) {
    const reason = findObstacle(game, entries)
    if (reason !== null) skipped.push({ rom_id: game.rom_id, reason })
    else {
      const { path, former_path: former = null, media_files: files = [] } = game
      const fields = listFields(game, choice)
      entries.set(path, { path, former, media_files: files, folder: gameFolder(game), fields })
    }
  }
  const isNew = existing === null || existing.trim() === ''
  const text = isNew ? writeGamelist([...entries.values()]) : mergeGamelist(existing, [...entries.values()])
  return { text, skipped }
}

function findObstacle ({ path }: ExportGame, entries: ReadonlyMap<string, Entry>): string | null {
  if (!isWritable(path)) {
    return `The path ${JSON.stringify(path)} has a character that XML cannot hold. Rename the file and scan again.`
  }
  return entries.has(path) ? `Another ROM of the platform has the path "${path}".` : null
}
