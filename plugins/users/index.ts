import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { ApiError } from '../../core/errors.ts'
import { LINK_FORM, createPageRoutes } from '../../core/web/pages/page.ts'
import { createAccounts } from './progress/accounts.ts'
import { createAchievements } from './progress/achievements.ts'
import { type Avatars, createAvatars } from './profile/avatars.ts'
import { type Changes, createAccountChanges } from './accounts/change-account.ts'
import { REGISTER_PATH, createInvites } from './invites/invites.ts'
import createProfileRoutes from './routes/profile.ts'
import { type Roles, createRoles } from './accounts/roles.ts'
import createRoutes from './routes/users.ts'
import { createUsers } from './service.ts'
import { type SetupCode, createSetupCode } from './invites/setup-code.ts'

declare module 'fastify' {
  interface FastifyInstance {
    users: ReturnType<typeof createUsers> & Roles & SetupCode & Pick<Changes, 'onDelete'> &
      { openAvatar: Avatars['open'] }
  }
}

/** The page of an invite. */
const PAGE = { path: REGISTER_PATH, folder: new URL('page/', import.meta.url), name: 'register', script: LINK_FORM }

export default fp<FeatureOptions>(async (app, { config, role }) => {
  const roles = createRoles(app)
  const avatars = createAvatars(config)
  const accounts = createAccounts(app.registry)
  const achievements = createAchievements(app, config)
  for (const task of achievements.tasks()) app.tasks.define(task)
  const changes = createAccountChanges(app, avatars, roles, accounts)
  app.decorate('users', {
    ...createUsers(app, accounts),
    ...roles,
    ...createSetupCode(app),
    onDelete: changes.onDelete,
    openAvatar: avatars.open
  })
  await app.register(createRoutes({ invites: createInvites(app, config), changes, accounts }))
  await app.register(createProfileRoutes({ config, avatars, changes, accounts, achievements }))
  await app.register(createPageRoutes(config, PAGE))

  const { admin_username: username, admin_password: password } = config.auth
  if (role !== 'web' || (username === undefined && password === undefined)) return
  app.addHook('onReady', async () => {
    if (await app.users.hasAdmin()) return
    if (username === undefined || password === undefined) {
      app.log.warn('the first administrator was not created: set both SVC_ADMIN_USERNAME and SVC_ADMIN_PASSWORD, or neither')
      return
    }
    await app.users.add(app.orm.em.fork(), null, { username, password, email: '', role: 'admin' }, '')
      .then(() => { app.log.info({ username }, 'first administrator created') })
      .catch((err: unknown) => {
        app.log.warn(err instanceof ApiError ? { reason: err.message } : { err },
          'the first administrator was not created: correct SVC_ADMIN_USERNAME and SVC_ADMIN_PASSWORD, then start again')
      })
  })
}, { name: 'users', dependencies: ['database', 'auth-core', 'jobs', 'loader', 'circuits', 'tasks', 'permissions', 'audit', 'devices', 'resources', 'auth'] })
