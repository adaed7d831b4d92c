import type { FastifyRequest } from 'fastify'
import { notFound } from '../../core/errors.ts'
import type { User } from '../users/entities.ts'
import type { Attempt } from './sign-in-attempts.ts'

/** Sign-in through an OpenID provider. */
export interface Oidc {
  /** Returns the provider's address for a browser that signs in, and the cookie that the browser must bring back. */
  begin (): Promise<{ url: string, cookie: string }>
  /**
   * Returns the attempt to which the provider responded, by the query of the browser's request, and uses it up.
   *
   * @throws ApiError BAD_REQUEST if cookie and response do not belong together or were used, TOO_MANY_REQUESTS; then
   * the browser may still finish the attempt of its cookie
   */
  consume (request: FastifyRequest, cookie: string | undefined, answer: URLSearchParams): Promise<Attempt>
  /**
   * Returns the person whom the provider sent back.
   *
   * @throws ApiError BAD_REQUEST if the provider refused or the response is wrong, NOT_AUTHENTICATED or FORBIDDEN if
   * the person may not sign in, UNAVAILABLE if the provider cannot be asked
   */
  finish (
    request: FastifyRequest, attempt: Attempt, answer: URLSearchParams
  ): Promise<{ user: User, idToken: string }>
  /** Returns the address at which the session ends at the provider; null if that is off or impossible. */
  findLogoutUrl (idToken: string): Promise<string | null>
  close (): Promise<void>
}

async function refuse (): Promise<never> {
  throw notFound('Sign-in with OpenID Connect is off or not fully configured; see OIDC_ENABLED and the log of the server')
}

/** The sign-in of a server without a usable provider, which loads no code for it. */
export const OIDC_OFF: Oidc = {
  begin: refuse, consume: refuse, finish: refuse, findLogoutUrl: async () => null, close: async () => {}
}
