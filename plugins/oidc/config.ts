import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Formatted, Path, Section, Switch } from '../../core/config/setting.ts'

export const oidcConfig = defineSection('oidc', Section({
  enabled: Switch('OIDC_ENABLED', 'Lets people sign in with OpenID Connect'),
  provider: Type.String({ default: '', env: 'OIDC_PROVIDER', description: 'Name of the provider for login pages' }),
  client_id: Type.Optional(Type.String({
    minLength: 1, env: 'OIDC_CLIENT_ID', description: 'Id of this server at the provider'
  })),
  client_secret: Type.Optional(Type.String({
    minLength: 1, writeOnly: true, env: 'OIDC_CLIENT_SECRET',
    description: 'Secret of this server at the provider; none for a public client'
  })),
  redirect_uri: Type.Optional(Formatted('http-base', {
    env: 'OIDC_REDIRECT_URI',
    description: 'Address to which the provider sends people back; default: /api/oauth/openid under the base URL'
  })),
  server_application_url: Type.Optional(Formatted('http-url', {
    env: 'OIDC_SERVER_APPLICATION_URL',
    description: "The provider's address (issuer), under which it serves .well-known/openid-configuration"
  })),
  server_metadata_url: Type.Optional(Formatted('http-url', {
    env: 'OIDC_SERVER_METADATA_URL', description: 'Full address of the openid-configuration, if it is at another address'
  })),
  end_session_endpoint: Type.Optional(Formatted('http-url', {
    env: 'OIDC_END_SESSION_ENDPOINT', description: 'Address at which sessions end; default: the one in the openid-configuration'
  })),
  tls_cacertfile: Type.Optional(Path('file', {
    minLength: 1, env: 'OIDC_TLS_CACERTFILE',
    description: "PEM file of a CA that may have signed the provider's certificate"
  })),
  autologin: Switch('OIDC_AUTOLOGIN', 'Tells login pages to go to the provider at once'),
  rp_initiated_logout: Switch('OIDC_RP_INITIATED_LOGOUT', 'Offers to end the session at the provider when signing out'),
  allow_registration: Type.Boolean({
    default: true, env: 'OIDC_ALLOW_REGISTRATION', description: 'Creates accounts for people who have none'
  }),
  username_attribute: Type.String({
    default: 'preferred_username', minLength: 1, env: 'OIDC_USERNAME_ATTRIBUTE',
    description: 'Claim that contains the name of new accounts'
  }),
  claim_roles: Type.Optional(Type.String({
    minLength: 1, env: 'OIDC_CLAIM_ROLES',
    description: 'Claim that contains roles, such as groups or realm_access.roles'
  })),
  role_admin: Type.Optional(Type.String({
    minLength: 1, env: 'OIDC_ROLE_ADMIN', description: 'Role at the provider that maps to an administrator'
  })),
  role_editor: Type.Optional(Type.String({
    minLength: 1, env: 'OIDC_ROLE_EDITOR',
    description: 'Role at the provider that maps to a user, in the group Editors if the account is new; * for any'
  })),
  role_viewer: Type.Optional(Type.String({
    minLength: 1, env: 'OIDC_ROLE_VIEWER', description: 'Role at the provider that maps to a user; * for any'
  }))
}, 'Sign-in with OpenID Connect'))
