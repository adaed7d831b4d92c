import type { FeatureRoutes } from '../../../core/feature.ts'
import { LINK_FORM, createPageRoutes } from '../../../core/web/pages/page.ts'
import { REGISTER_PATH, createInvites } from '../invites/invites.ts'
import type { UserParts } from '../plugin.ts'
import createProfileRoutes from './profile.ts'
import createUserRoutes from './users.ts'

/** The page of an invite. */
const PAGE = { path: REGISTER_PATH, folder: new URL('../page/', import.meta.url), name: 'register', script: LINK_FORM }

const routes: FeatureRoutes<UserParts> = async (app, { config }, parts) => {
  await app.register(createUserRoutes({ ...parts, invites: createInvites(app, config) }))
  await app.register(createProfileRoutes({ ...parts, config }))
  await app.register(createPageRoutes(config, PAGE))
}

export default routes
