import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { createUsers } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { users: ReturnType<typeof createUsers> }
}

export default fp<FeatureOptions>(async (app, { config, role }) => {
  app.decorate('users', createUsers(app))
  await app.register(routes)

  const { admin_username: username, admin_password: password } = config.auth
  if (role !== 'web' || username === undefined || password === undefined) return
  app.addHook('onReady', async () => {
    if (await app.users.hasAdmin()) return
    await app.users.register(app.orm.em.fork(), null, { username, password, email: '', role: 'admin' })
      .then(() => { app.log.info({ username }, 'first administrator created') })
      .catch((err: unknown) => { app.log.warn({ err }, 'the first administrator was not created') })
  })
}, { name: 'users', dependencies: ['database', 'auth-core', 'permissions'] })
