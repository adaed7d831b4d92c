import { defineProvider } from '@svc/plugin-sdk'
import { getGame, listScanGrids } from './api.ts'
import { ConfigSchema } from './config.ts'
import { listCovers } from './covers.ts'
import { NAMING, chooseGrid, findByName, findCover } from './find.ts'

export default defineProvider({
  key: 'sgdb',
  name: 'SteamGridDB',
  id: 'integer',
  kind: 'artwork',
  config: ConfigSchema,
  order: { when: 'identified', after: [...NAMING, 'steam'] },
  heartbeatFlag: 'STEAMGRIDDB_API_ENABLED',
  attribution: 'Covers by the members of SteamGridDB, https://www.steamgriddb.com',
  limits: { concurrency: 4, timeoutMs: 120_000, rates: [{ requests: 4, perMs: 1_000 }] },

  identify: (rom, ctx) => findCover(rom.titles[0] ?? '', ctx),

  async getById (id, _rom, ctx) {
    const game = Number.isSafeInteger(id) && id > 0 ? await getGame(id, 'id', ctx) : undefined
    if (game === undefined) return undefined
    const url = chooseGrid(await listScanGrids(game.id, ctx), ctx.preferences.languages)
    return { id: game.id, media: url === undefined ? [] : [{ kind: 'cover', url }] }
  },

  async search ({ term }, ctx) {
    const match = await findByName(term, ctx)
    return match === undefined ? [] : [match]
  },

  searchCovers: listCovers,

  heartbeat: async (ctx) => await getGame(1, 'id', ctx) !== undefined
})
