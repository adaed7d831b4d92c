import { Type } from '@sinclair/typebox'
import { contextOf } from '../../../core/access/context.ts'
import { ErrorSchema, type Routes, idOf } from '../../../core/typebox.ts'
import { ClientTokenCreateSchema, ClientTokenPairSchema, ExchangeSchema } from '../schemas.ts'
import { toTokenView } from '../views.ts'

const tags = ['client-tokens']

const routes: Routes = async (app) => {
  const { pairing } = app.tokens

  app.post('/api/client-tokens/:token_id/pair', {
    schema: {
      operationId: 'pairClientToken',
      tags,
      summary: 'Create a short code that a device exchanges for the token',
      params: Type.Object({ token_id: idOf('a token') }),
      response: { 200: ClientTokenPairSchema }
    },
    config: { scopes: ['me.write'], signedIn: true }
  }, async (request) => await pairing.start(contextOf(request), request.params.token_id))

  app.get('/api/client-tokens/pair/:code/status', {
    schema: {
      operationId: 'getPairingStatus',
      tags,
      summary: 'Check if a code still waits for its device',
      params: Type.Object({ code: Type.String({ description: 'The code that the user got' }) }),
      response: { 200: Type.Null(), 404: ErrorSchema, 429: ErrorSchema }
    },
    config: { public: true, csrfExempt: true }
  }, async (request) => {
    await pairing.checkWaiting(request.db, request.params.code, request.ip)
    return null
  })

  app.post('/api/client-tokens/exchange', {
    schema: {
      operationId: 'exchangePairingCode',
      tags,
      summary: 'Exchange a code for its token, which gets a new secret',
      body: ExchangeSchema,
      response: { 200: ClientTokenCreateSchema, 403: ErrorSchema, 404: ErrorSchema, 429: ErrorSchema }
    },
    config: { public: true, csrfExempt: true }
  }, async (request) => {
    const { token, raw } = await pairing.exchange(request.db, request.body.code, request.ip)
    return { ...toTokenView(token), raw_token: raw }
  })
}

export default routes
