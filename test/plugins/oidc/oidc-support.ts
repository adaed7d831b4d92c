import { buildTestApp } from '../../support.ts'
import { CLIENT, startProvider } from './support.ts'
import type { Test } from 'tap'

export const BASE_URL = 'https://games.example/lib'
export const CALLBACK = `${BASE_URL}/api/oauth/openid`
export const ROLES = { OIDC_CLAIM_ROLES: 'realm_access.roles', OIDC_ROLE_ADMIN: 'boss', OIDC_ROLE_EDITOR: 'keeper', OIDC_ROLE_VIEWER: 'guest' }

export async function startOidc (t: Test) {
  const provider = await startProvider(t, CALLBACK)
  const CONFIGURED = {
    SVC_BASE_URL: BASE_URL, OIDC_ENABLED: 'true', OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret,
    OIDC_SERVER_APPLICATION_URL: provider.issuer
  }
  const test = await buildTestApp(t, { env: { ...CONFIGURED, ...ROLES, OIDC_PROVIDER: 'Home', OIDC_RP_INITIATED_LOGOUT: 'true' } })
  const { app } = test

  /** Adds a person to the provider, with the role of a guest. */
  function introduce (subject: string, claims: object = {}): string {
    provider.people.set(subject, {
      preferred_username: subject, email: `${subject}@Home.Example`, email_verified: true, realm_access: { roles: ['guest'] }, ...claims
    })
    return subject
  }
  return { provider, CONFIGURED, test, app, introduce }
}
