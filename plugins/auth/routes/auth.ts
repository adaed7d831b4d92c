import { Type } from '@sinclair/typebox'
import { ApiError } from '../../../core/errors.ts'
import { ErrorSchema, type Routes } from '../../../core/typebox.ts'
import { readBasic } from '../sign-in/basic.ts'
import type { SignInMethods } from '../plugin.ts'
import {
  ForgotPasswordSchema, LogoutSchema, ResetPasswordSchema, SignInFormSchema, TokenFormSchema, TokenSchema
} from '../schemas.ts'
import { readMultipartForm } from './multipart-form.ts'

const tags = ['auth']
const FORM = ['application/x-www-form-urlencoded']

const createRoutes = ({ signIn, oauth, resets }: SignInMethods): Routes => async (app) => {
  app.post('/api/login', {
    schema: {
      operationId: 'login',
      tags,
      summary: 'Open a browser session with Basic credentials',
      response: { 200: Type.Null(), 401: ErrorSchema, 429: ErrorSchema }
    },
    config: { public: true, readsAuthorization: true }
  }, async (request, reply) => {
    const basic = readBasic(request.headers.authorization)
    if (basic === null) throw new ApiError('NOT_AUTHENTICATED', 'Send a username and password by HTTP Basic')
    const user = await signIn.checkOrRefuse({ ...basic, address: request.ip })
    await app.sessions.signIn(request, reply, user)
    return null
  })

  app.post('/api/auth/login', {
    schema: {
      operationId: 'loginWithForm',
      tags,
      summary: 'Open a browser session with a form',
      description: 'A multipart form is read, too.',
      consumes: FORM,
      body: SignInFormSchema,
      response: { 200: Type.Null(), 400: ErrorSchema, 401: ErrorSchema, 413: ErrorSchema, 429: ErrorSchema }
    },
    preValidation: readMultipartForm,
    config: { public: true, readsAuthorization: true }
  }, async (request, reply) => {
    const user = await signIn.checkOrRefuse({ ...request.body, address: request.ip })
    await app.sessions.signIn(request, reply, user)
    return null
  })

  for (const [path, operationId] of [['/api/logout', 'logout'], ['/api/auth/logout', 'logoutAlias']] as const) {
    app.post(path, {
      schema: { operationId, tags, summary: 'End the browser session', response: { 200: LogoutSchema } },
      config: { public: true }
    }, async (request, reply) => await app.sessions.signOut(request, reply))
  }

  app.post('/api/token', {
    schema: {
      operationId: 'createToken',
      tags,
      summary: 'Get OAuth2 tokens for a password or a refresh token',
      description: 'A multipart form is read, too.',
      consumes: FORM,
      body: TokenFormSchema,
      response: {
        200: TokenSchema, 400: ErrorSchema, 401: ErrorSchema, 403: ErrorSchema, 413: ErrorSchema, 429: ErrorSchema
      }
    },
    preValidation: readMultipartForm,
    // Programs send their own name and secret by Basic, which are not those of a user.
    config: { public: true, csrfExempt: true, readsAuthorization: true }
  }, async (request, reply) => {
    const tokens = await oauth.grant(request.db, request.body, request.ip)
    return reply.header('cache-control', 'no-store').send(tokens)
  })

  app.post('/api/forgot-password', {
    schema: {
      operationId: 'requestPasswordReset',
      tags,
      summary: 'Send a reset link; the response is the same for unknown users',
      body: ForgotPasswordSchema,
      response: { 200: Type.Null(), 429: ErrorSchema }
    },
    config: { public: true }
  }, async (request) => {
    await resets.request(request.body.username, request.ip)
    return null
  })

  app.post('/api/reset-password', {
    schema: {
      operationId: 'resetPassword',
      tags,
      summary: 'Set a new password with the token of a reset link; ends all sessions and client tokens of the user',
      body: ResetPasswordSchema,
      response: { 200: Type.Null(), 400: ErrorSchema, 404: ErrorSchema, 429: ErrorSchema }
    },
    config: { public: true }
  }, async (request) => {
    await resets.reset(request.db, request.body, request.ip)
    return null
  })
}

export default createRoutes
