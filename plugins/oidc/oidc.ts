import type { FastifyRequest } from 'fastify'
import { notFound } from '../../core/errors.ts'
import type { User } from '../users/entities.ts'

/** Sign-in through an OpenID provider. */
export interface Oidc {
  /** Returns the provider's address for a browser that signs in, and the cookie that the browser must bring back. */
  begin (): Promise<{ url: string, cookie: string }>
  /**
   * Returns the person whom the provider sent back, by the query of the browser's request.
   *
   * @throws ApiError BAD_REQUEST if cookie and response do not belong together or were used, NOT_AUTHENTICATED or
   * FORBIDDEN if the person may not sign in, UNAVAILABLE if the provider cannot be asked
   */
  finish (
    request: FastifyRequest, cookie: string | undefined, answer: URLSearchParams
  ): Promise<{ user: User, idToken: string }>
  /** Returns the address at which the session ends at the provider; null if that is off or impossible. */
  findLogoutUrl (idToken: string): Promise<string | null>
  close (): Promise<void>
}

async function refuse (): Promise<never> {
  throw notFound('Sign-in with OpenID Connect is off or not fully configured; see OIDC_ENABLED and the log of the server')
}

/** The sign-in of a server without a usable provider, which loads no code for it. */
export const OIDC_OFF: Oidc = { begin: refuse, finish: refuse, findLogoutUrl: async () => null, close: async () => {} }
