import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { ApiError } from '../../core/errors.ts'
import type { FeaturePlugin } from '../../core/feature.ts'
import { type ProviderAccounts, createProviderAccounts } from './progress/provider-accounts.ts'
import { type Achievements, createAchievements } from './progress/achievements.ts'
import { listProgressTasks } from './progress/progress-tasks.ts'
import { type Avatars, createAvatars } from './profile/avatars.ts'
import { type Changes, createAccountChanges } from './accounts/change-account.ts'
import { type AccountDeletions, createAccountDeletions } from './accounts/delete-account.ts'
import { type Roles, createRoles } from './accounts/roles.ts'
import { createUsers } from './service.ts'
import { type SetupCode, createSetupCode } from './invites/setup-code.ts'

declare module 'fastify' {
  interface FastifyInstance {
    users: ReturnType<typeof createUsers> & Roles & SetupCode & Pick<AccountDeletions, 'onDelete'> &
      { openAvatar: Avatars['open'], stageAvatar: Avatars['stage'] }
  }
}

/** The parts of the feature that only its routes use. */
export interface UserParts {
  avatars: Avatars
  accounts: ProviderAccounts
  achievements: Achievements
  changes: Changes
  deletions: AccountDeletions
}

/** Creates the administrator of the configuration, if there is none. */
function addFirstAdmin (app: FastifyInstance, { auth }: Config): void {
  const { admin_username: username, admin_password: password } = auth
  if (username === undefined && password === undefined) return
  app.addHook('onReady', async () => {
    if (await app.users.hasAdmin()) return
    if (username === undefined || password === undefined) {
      app.log.warn('the first administrator was not created: set both SVC_ADMIN_USERNAME and SVC_ADMIN_PASSWORD, or neither')
      return
    }
    await app.users.add({ db: app.db, caller: null }, { username, password, email: '', role: 'admin' }, '')
      .then(() => { app.log.info({ username }, 'first administrator created') })
      .catch(async (err: unknown) => {
        // Another host that started at the same time was first.
        if (await app.users.hasAdmin()) return
        app.log.warn(err instanceof ApiError ? { reason: err.message } : { err },
          'the first administrator was not created: correct SVC_ADMIN_USERNAME and SVC_ADMIN_PASSWORD, then start again')
      })
  })
}

const plugin: FeaturePlugin<UserParts> = async (app, { config, role }) => {
  const roles = createRoles(app)
  const avatars = createAvatars(config, app.store)
  const accounts = createProviderAccounts(app.registry)
  const achievements = createAchievements(app, config)
  for (const task of listProgressTasks(app, config)) app.tasks.define(task)
  const changes = createAccountChanges({ app, avatars, roles, accounts })
  const deletions = createAccountDeletions(app, avatars)
  app.decorate('users', {
    ...createUsers(app, accounts),
    ...roles,
    ...createSetupCode(app),
    onDelete: deletions.onDelete,
    openAvatar: avatars.open,
    stageAvatar: avatars.stage
  })
  if (role === 'web') addFirstAdmin(app, config)
  return { avatars, accounts, achievements, changes, deletions }
}

export default plugin
