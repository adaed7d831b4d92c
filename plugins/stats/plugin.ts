import type { FeaturePlugin } from '../../core/feature.ts'
import { pruneChanges } from '../library-versions/change-rows.ts'
import { compactCounts } from './rows.ts'

const plugin: FeaturePlugin = async (app) => {
  // Merge the rows that a scan wrote in many statements into one row for each key.
  app.tasks.onEnd(async ({ type }) => { if (type === 'scan') await compactCounts(app.db) })
  app.tasks.onEnd(() => pruneChanges(app.db))
}

export default plugin
