import formbody from '@fastify/formbody'
import type { FeatureRoutes } from '../../../core/feature.ts'
import { LINK_FORM, createPageRoutes } from '../../../core/web/pages/page.ts'
import { RESET_PATH } from '../passwords/reset-link.ts'
import type { SignInMethods } from '../plugin.ts'
import createAuthRoutes from './auth.ts'
import sessionRoutes from './sessions.ts'

/** The page of a reset link. */
const PAGE = { path: RESET_PATH, folder: new URL('../page/', import.meta.url), name: 'reset-password', script: LINK_FORM }

const routes: FeatureRoutes<SignInMethods> = async (app, { config }, entrances) => {
  await app.register(async (forms) => {
    await forms.register(formbody)
    await forms.register(createAuthRoutes(entrances))
  })
  await app.register(sessionRoutes)
  await app.register(createPageRoutes(config, PAGE))
}

export default routes
