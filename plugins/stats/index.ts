import fp from 'fastify-plugin'
import { compactCounts } from './rows.ts'
import routes from './routes.ts'

export default fp(async (app) => {
  await app.register(routes)
  // Merge the rows that a scan wrote in many statements into one row for each key.
  app.tasks.onEnd(async ({ type }) => { if (type === 'scan') await compactCounts(app.pg) })
}, { name: 'stats', dependencies: ['database', 'auth-core', 'tasks', 'permissions', 'roms', 'play-sessions'] })
