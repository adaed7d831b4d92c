// Client credentials flow: https://dev.twitch.tv/docs/authentication/getting-tokens-oauth/
import { CredentialsRefusedError, HttpStatusError, ServiceDownError } from '@svc/plugin-sdk'
import { isFields, readInteger, readText } from '@svc/plugin-sdk/readers'
import type { IgdbContext } from './config.ts'

const TOKEN_URL = 'https://id.twitch.tv/oauth2/token'
const TOKEN_TIMEOUT_MS = 10_000
/** Margin in seconds before its end in which a token is no longer used, so that none expires during a request. */
const TOKEN_MARGIN_S = 10

export interface Token {
  access_token: string
  /** Milliseconds since 1970-01-01 UTC. */
  expires_at: number
}

/**
 * Returns the token of this client, from the cache if possible.
 *
 * @throws CredentialsRefusedError
 */
export async function getToken (ctx: IgdbContext): Promise<Token> {
  return await readCachedToken(ctx) ?? ctx.memo('token', () => requestToken(ctx))
}

/**
 * Requests another token after IGDB refused one; concurrent callers share the request.
 *
 * @throws CredentialsRefusedError
 */
export async function renewToken (ctx: IgdbContext, refused: Token): Promise<Token> {
  const cached = await readCachedToken(ctx)
  if (cached !== undefined && cached.access_token !== refused.access_token) return cached
  return ctx.memo(`token after ${refused.expires_at}`, () => requestToken(ctx))
}

async function readCachedToken (ctx: IgdbContext): Promise<Token | undefined> {
  const cached = await ctx.cache.get(cacheKey(ctx))
  if (!isFields(cached)) return undefined
  const accessToken = readText(cached, 'access_token')
  const expiresAt = readInteger(cached, 'expires_at')
  if (accessToken === undefined || expiresAt === undefined) return undefined
  return { access_token: accessToken, expires_at: expiresAt }
}

async function requestToken (ctx: IgdbContext): Promise<Token> {
  const answer = await postCredentials(ctx)
  const accessToken = isFields(answer) ? readText(answer, 'access_token') : undefined
  const lifetime = isFields(answer) ? readInteger(answer, 'expires_in') : undefined
  if (accessToken === undefined || lifetime === undefined) {
    throw new ServiceDownError(`${TOKEN_URL} answered without access_token and expires_in; try again later`)
  }
  const ttlMs = (lifetime - TOKEN_MARGIN_S) * 1000
  const token = { access_token: accessToken, expires_at: Date.now() + ttlMs }
  if (ttlMs > 0) await ctx.cache.set(cacheKey(ctx), token, ttlMs)
  return token
}

async function postCredentials ({ config, http }: IgdbContext): Promise<unknown> {
  try {
    return await http.json(TOKEN_URL, {
      method: 'POST',
      form: { client_id: config.clientId, client_secret: config.clientSecret, grant_type: 'client_credentials' },
      timeoutMs: TOKEN_TIMEOUT_MS,
      retry: true
    })
  } catch (err) {
    if (!(err instanceof HttpStatusError) || err.status < 400) throw err
    throw new CredentialsRefusedError(
      `Twitch refused the client id '${config.clientId}' or its secret with status ${err.status}; ` +
      'check IGDB_CLIENT_ID and IGDB_CLIENT_SECRET', { cause: err })
  }
}

function cacheKey ({ config }: IgdbContext): string {
  return `token of ${config.clientId}`
}
