// API reference: https://api-docs.retroachievements.org
import { CredentialsRefusedError, type HttpResponse, type RequestOptions, ServiceDownError } from '@svc/plugin-sdk'
import { type Fields, isFields, readId } from '@svc/plugin-sdk/readers'
import type { RaContext } from './config.ts'

const API_URL = 'https://retroachievements.org/API'
const TIMEOUT_MS = 120_000
/** Large, because the list of a console holds thousands of games with their hashes. */
const MAX_BYTES = 64 * 1024 * 1024

/** A game as the service describes it. Only its id is checked. */
export interface Game { id: number, fields: Fields }

/** @throws CredentialsRefusedError */
export async function call (
  { config, http }: RaContext, name: string, query: RequestOptions['query'] = {}, accept: readonly number[] = []
): Promise<HttpResponse> {
  const response = await http.request(`${API_URL}/API_${name}.php`, {
    query: { ...query, y: config.apiKey }, accept: [401, ...accept], timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES
  })
  if (response.status !== 401) return response
  throw new CredentialsRefusedError(
    'RetroAchievements refused the Web API key; copy it again from the control panel of the account')
}

/** Returns the game with this id, or undefined. The service answers an unknown id with an empty list. */
export async function findGame (id: number, ctx: RaContext): Promise<Game | undefined> {
  const response = await call(ctx, 'GetGameExtended', { i: id }, [404])
  const fields = response.status === 404 ? undefined : response.json()
  const found = isFields(fields) ? readId(fields, 'ID') : undefined
  return isFields(fields) && found !== undefined ? { id: found, fields } : undefined
}

/** Lists all games of a console with their hashes. */
export async function listGames (consoleId: number, ctx: RaContext): Promise<Fields[]> {
  const answer = (await call(ctx, 'GetGameList', { i: consoleId, h: 1 })).json()
  if (Array.isArray(answer)) return answer.filter(isFields)
  throw new ServiceDownError(`RetroAchievements answered without the list of console ${consoleId}; try again later`)
}

export async function checkHealth (ctx: RaContext): Promise<boolean> {
  const answer = (await call(ctx, 'GetAchievementOfTheWeek')).json()
  return isFields(answer) && Object.keys(answer).length > 0
}
