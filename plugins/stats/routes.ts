import { callerOf } from '../../core/access/auth.ts'
import type { Routes } from '../../core/typebox.ts'
import { selectAssetCounts, selectCounts, selectMostPlayed, selectPlayedWeeks } from './rows.ts'
import { PlayStatsQuery, PlayStatsSchema, StatsQuery, StatsSchema } from './schemas.ts'
import { toPlayStatsView, toStatsView } from './views.ts'

const tags = ['stats']

const routes: Routes = async (app) => {
  app.get('/api/stats', {
    schema: {
      operationId: 'getStats',
      tags,
      summary: 'Get the size of the library, by platform',
      description: 'Counts the ROMs and platforms that you may see, and your own and public uploads.',
      querystring: StatsQuery,
      response: { 200: StatsSchema }
    },
    config: { scopes: [] }
  }, async (request) => {
    const { db, query } = request
    const caller = callerOf(request)
    const counts = await selectCounts({ db, caller })
    return toStatsView(counts, await selectAssetCounts({ db, caller }), query.include_platform_stats)
  })

  app.get('/api/stats/play', {
    schema: {
      operationId: 'getPlayStats',
      tags,
      summary: 'Get the games that you played most, and your play time of each week and platform',
      description: 'Skips ROMs that are hidden from you or deleted.',
      querystring: PlayStatsQuery,
      response: { 200: PlayStatsSchema }
    },
    config: { scopes: ['me.read'], orScopes: ['roms.user.read'] }
  }, async (request) => {
    const { db, query: { weeks, limit } } = request
    const caller = callerOf(request)
    const context = { db, caller }
    return toPlayStatsView(await selectMostPlayed(context, limit), await selectPlayedWeeks(context, weeks))
  })
}

export default routes
