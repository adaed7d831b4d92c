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
      summary: 'How much there is in the library',
      description: 'Counts what you may see: no ROMs and platforms that are hidden from you, and of uploads your own and public ones.',
      querystring: StatsQuery,
      response: { 200: StatsSchema }
    },
    config: { scopes: [] }
  }, async (request) => {
    const { em, query } = request
    const caller = callerOf(request)
    const counts = await selectCounts(em, caller)
    return toStatsView(counts, await selectAssetCounts(em, caller), query.include_platform_stats)
  })

  app.get('/api/stats/play', {
    schema: {
      operationId: 'getPlayStats',
      tags,
      summary: 'What you played most, and how long each week and on each platform',
      description: 'Play time of ROMs that are hidden from you, or gone, is left out.',
      querystring: PlayStatsQuery,
      response: { 200: PlayStatsSchema }
    },
    config: { scopes: ['me.read'], orScopes: ['roms.user.read'] }
  }, async (request) => {
    const { em, query: { weeks, limit } } = request
    const caller = callerOf(request)
    return toPlayStatsView(await selectMostPlayed(em, caller, limit), await selectPlayedWeeks(em, caller, weeks))
  })
}

export default routes
