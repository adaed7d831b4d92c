import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable } from '../../core/typebox.ts'

export const SignInFormSchema = Type.Object({ username: Type.String(), password: Type.String() }, { title: 'SignInForm' })

export const LogoutSchema = Nullable(Type.Object({
  oidc_logout_url: Nullable(Type.String({ description: 'Address to sign out at the OpenID provider too' }))
}))

/** The form of RFC 6749 sections 4.3.2 and 6. Programs also send keys that have no effect here. */
export const TokenFormSchema = Type.Object({
  grant_type: Type.Optional(Type.String({ default: 'password', description: '`password` or `refresh_token`' })),
  scope: Type.Optional(Type.String({ description: 'Scopes separated by spaces; without any, the token grants nothing' })),
  username: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  refresh_token: Type.Optional(Type.String()),
  client_id: Type.Optional(Type.String({ description: 'Ignored' })),
  client_secret: Type.Optional(Type.String({ description: 'Ignored' }))
}, { title: 'TokenForm' })
export type TokenForm = Static<typeof TokenFormSchema>

export const TokenSchema = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('bearer'),
  expires: Type.Integer({ description: 'Lifetime of the access token in seconds' }),
  expires_in: Type.Integer({ description: 'The same value, under the name of RFC 6749' }),
  refresh_token: Type.String({ description: 'Valid for one use' }),
  refresh_expires: Type.Integer({ description: 'Lifetime of the refresh token in seconds' }),
  scope: Type.String()
}, { title: 'Token' })
export type TokenView = Static<typeof TokenSchema>

export const ForgotPasswordSchema = Type.Object({ username: Type.String() }, { title: 'ForgotPassword' })
/** Option of a new password: the credentials that it does not revoke. */
export const KeepTokens = Type.Optional(Nullable(Type.Boolean({
  description:
    'True if client tokens, and the devices connected by them, stay valid after the change; default false'
})))
export const ResetPasswordSchema = Type.Object({
  token: Type.String(), new_password: Type.String(), keep_tokens: KeepTokens
}, { title: 'ResetPassword' })
export type ResetPassword = Static<typeof ResetPasswordSchema>

export const SessionSchema = Type.Object({
  id: Type.Integer(),
  user_agent: Type.String(),
  address: Type.String({ description: 'Network address from which the session was opened' }),
  created_at: DateTime,
  last_seen: DateTime,
  expires_at: DateTime,
  is_current: Type.Boolean({ description: 'True for the session of this request' }),
  device_id: Nullable(Type.String())
}, { title: 'Session' })
