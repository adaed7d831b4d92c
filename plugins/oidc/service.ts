import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError, badRequest } from '../../core/errors.ts'
import { networkOf } from '../../core/config/networks.ts'
import { isEqualSecret } from '../../core/access/secrets.ts'
import { createThrottle } from '../auth/throttle-rows.ts'
import type { User } from '../users/entities.ts'
import { createSignInAccounts } from './sign-in-accounts.ts'
import { createAttempts } from './sign-in-attempts.ts'
import { type Proof, readProof, toAuthorizationUrl, toLogoutUrl } from './exchange.ts'
import { toApiError } from './failures.ts'
import { readIdentity } from './identity.ts'
import { createProvider } from './provider.ts'
import { applyRole } from './roles.ts'
import type { Oidc } from './oidc.ts'
import type { OidcSettings } from './settings.ts'

const AGAIN = 'sign in again from the start'
/**
 * Limits responses by address, because each makes the server call the provider. A household stays far below the limit.
 */
const responseLimit = (address: string) => ({ key: `oidc:${networkOf(address)}`, max: 100, seconds: 600 })

/** Only the log has the reason. The person who signs in reads what to do. */
async function withLoggedFailures<T> (log: FastifyBaseLogger, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (err) {
    const failure = toApiError(err)
    if (failure.code === 'UNAVAILABLE') log.error({ err }, 'the OpenID provider could not be used')
    else log.info({ err }, 'the OpenID provider refused a sign-in')
    throw failure
  }
}

/** Only people whom the provider knows get this far, so strangers cannot fill the audit log. */
async function recordRefusal (
  { audit }: FastifyInstance, { ip: address }: FastifyRequest, { claims: { email } }: Proof, { message }: ApiError
): Promise<void> {
  const username = typeof email === 'string' ? email : ''
  await audit.record({ event: 'sign_in.failed', username, address, details: { by: 'oidc', reason: message } })
}

/** Sign-in through an OpenID provider. */
export function createOidc (app: FastifyInstance, settings: OidcSettings): Oidc {
  const attempts = createAttempts(app)
  const throttle = createThrottle(app.db)
  const provider = createProvider(settings)
  const accounts = createSignInAccounts(app, settings)

  async function findUser (request: FastifyRequest, proof: Proof): Promise<User> {
    const identity = readIdentity(proof.claims, proof.issuer, proof.isVerificationPromised, settings)
    const user = await accounts.find(request.db, identity, request.ip)
    await applyRole(app, request, user, identity.role)
    return user
  }

  return {
    async begin () {
      const attempt = attempts.begin()
      const url = await withLoggedFailures(app.log,
        async () => await toAuthorizationUrl(await provider.read(), settings, attempt)
      )
      return { url, cookie: attempts.seal(attempt) }
    },

    async consume ({ ip: address }, cookie, answer) {
      const attempt = cookie === undefined ? null : attempts.open(cookie)
      if (attempt === null) throw badRequest(`This browser has no recent sign-in, or does not store cookies; ${AGAIN}`)
      if (!isEqualSecret(answer.get('state') ?? '', attempt.state)) throw badRequest(`This response belongs to another sign-in; ${AGAIN}`)
      await throttle.countUse(responseLimit(address))
      if (!await attempts.consume(attempt)) throw badRequest(`This sign-in was used already; ${AGAIN}`)
      return attempt
    },

    async finish (request, attempt, answer) {
      const proof = await withLoggedFailures(app.log, async () => {
        try {
          return await readProof(await provider.read(), settings, attempt, answer)
        } catch (err) {
          provider.forget()
          throw err
        }
      })
      try {
        return { user: await findUser(request, proof), idToken: proof.idToken }
      } catch (err) {
        if (err instanceof ApiError) await recordRefusal(app, request, proof, err)
        throw err
      }
    },

    async findLogoutUrl (idToken) {
      if (!settings.rp_initiated_logout) return null
      try {
        const { end_session_endpoint: fixed } = settings
        return toLogoutUrl(fixed ?? (await provider.read()).serverMetadata().end_session_endpoint, idToken)
      } catch (err) {
        // The session on this server has ended anyway.
        app.log.warn({ err }, 'the address at which sessions end could not be read from the OpenID provider')
        return null
      }
    },

    close: () => provider.close()
  }
}
