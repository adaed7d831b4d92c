import type { FeaturePlugin } from '../../core/feature.ts'
import { OIDC_OFF, type Oidc } from './oidc.ts'
import { readSettings } from './settings.ts'

declare module 'fastify' {
  interface FastifyInstance { oidc: Oidc }
}

const plugin: FeaturePlugin = async (app, { config, role }) => {
  const { settings, problems } = readSettings(config)
  // Only the worker warns at its first start, because there is one of it and many other processes.
  if (role === 'worker' && !app.rest.isWoken && problems.length > 0) {
    app.log.warn(`sign-in with OpenID Connect is off although OIDC_ENABLED is set: ${problems.join('; ')}`)
  }
  const oidc = settings === null ? OIDC_OFF : (await import('./service.ts')).createOidc(app, settings)
  app.decorate('oidc', oidc)
  app.sessions.onSignOut(async (idToken) => {
    const url = await oidc.findLogoutUrl(idToken)
    return url === null ? null : { oidc_logout_url: url }
  })
  app.addHook('onClose', async () => { await oidc.close() })
}

export default plugin
