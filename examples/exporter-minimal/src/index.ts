import { defineExporter } from '@svc/plugin-sdk'
import { HEADER, readPath, renderLine } from './render.ts'

export default defineExporter({
  key: 'minimal',
  name: 'minimal.csv',
  fileName: 'minimal.csv',
  media: { cover: 'covers' },

  async render (_platform, games, existing) {
    const known = new Map(games.map((game) => [game.path, renderLine(game)]))
    const written = new Set<string>()
    const lines = [HEADER]
    for (const line of (existing ?? '').split('\n')) {
      if (line === HEADER || line === '') continue
      const path = readPath(line)
      const fresh = path === null ? undefined : known.get(path)
      // A line of a game outside the library, or of no game at all, belongs to someone else.
      if (path === null || fresh === undefined) lines.push(line)
      else if (!written.has(path)) lines.push(fresh)
      if (path !== null) written.add(path)
    }
    for (const [path, line] of known) {
      if (!written.has(path)) lines.push(line)
    }
    return { text: `${lines.join('\n')}\n`, skipped: [] }
  }
})
