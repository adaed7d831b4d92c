import { contextOf } from '../../core/access/context.ts'
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
    const context = contextOf(request)
    const counts = await selectCounts(context)
    return toStatsView(counts, await selectAssetCounts(context), request.query.include_platform_stats)
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
    const { weeks, limit } = request.query
    const context = contextOf(request)
    return toPlayStatsView(await selectMostPlayed(context, limit), await selectPlayedWeeks(context, weeks))
  })
}

export default routes
