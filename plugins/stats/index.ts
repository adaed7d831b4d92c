import fp from 'fastify-plugin'
import { compactCounts } from './rows.ts'
import routes from './routes.ts'

export default fp(async (app) => {
  await app.register(routes)
  // What a scan writes in many statements becomes one row for each kind again.
  app.tasks.onEnd(async ({ type }) => { if (type === 'scan') await compactCounts(app.pg) })
}, { name: 'stats', dependencies: ['database', 'auth-core', 'tasks', 'permissions', 'roms', 'play-sessions'] })
