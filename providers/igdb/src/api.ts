import { CredentialsRefusedError, type HttpResponse, ServiceDownError } from '@svc/plugin-sdk'
import { type Fields, readInteger, readText, toFieldsList } from '@svc/plugin-sdk/readers'
import type { IgdbContext } from './config.ts'
import { type Token, getToken, renewToken } from './token.ts'

const API_URL = 'https://api.igdb.com/v4'

/** A game as IGDB describes it. Only the fields named here are checked. */
export type Game = Fields & { readonly id: number, readonly name: string }

/** Lists the games that a query finds; skips those without id or name. Errors as {@link sendQuery}. */
export async function listGames (ctx: IgdbContext, body: string): Promise<Game[]> {
  return (await sendQuery(ctx, 'games', body)).filter(isGame)
}

/**
 * Sends one query and returns the objects in the response.
 *
 * @throws CredentialsRefusedError when IGDB refuses even a fresh token · ServiceDownError when the response is no list
 */
export async function sendQuery (
  ctx: IgdbContext, endpoint: 'games' | 'search', body: string
): Promise<Fields[]> {
  const token = await getToken(ctx)
  let response = await post(ctx, endpoint, body, token)
  if (response.status === 401) response = await post(ctx, endpoint, body, await renewToken(ctx, token))
  if (response.status === 401) {
    throw new CredentialsRefusedError(
      `IGDB refused a new token of the client id '${ctx.config.clientId}'; check IGDB_CLIENT_ID`)
  }
  const answer = response.json()
  if (!Array.isArray(answer)) throw new ServiceDownError(`IGDB answered /${endpoint} with JSON that is not a list; try again later`)
  return toFieldsList(answer)
}

function post ({ config, http }: IgdbContext, endpoint: string, body: string, token: Token): Promise<HttpResponse> {
  return http.request(`${API_URL}/${endpoint}`, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'text/plain',
      'client-id': config.clientId,
      authorization: `Bearer ${token.access_token}`
    },
    body,
    accept: [401],
    retry: true
  })
}

function isGame (fields: Fields): fields is Game {
  return readInteger(fields, 'id') !== undefined && readText(fields, 'name') !== undefined
}
