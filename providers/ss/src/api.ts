import {
  CredentialsRefusedError, type HttpResponse, RateLimitedError, type RequestOptions, ServiceDownError
} from '@svc/plugin-sdk'
import { type Fields, isFields, parseJson, readFields, readId, toFieldsList } from '@svc/plugin-sdk/readers'
import { storeSpeed, reportAccountLimits, reportSpentAllowance } from './account.ts'
import { type SsContext, credentials } from './config.ts'

const API_URL = 'https://api.screenscraper.fr/api2'
const TIMEOUT_MS = 120_000
/** Error statuses to which the service gives its own meaning. */
const OWN_STATUSES = [400, 401, 403, 404, 423, 426, 430, 431]
const BACKSLASH = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})?/g
const QUOTED_CHARACTERS = 80
const ACCOUNT = 'ssuserInfos'

/** A game as the service describes it. Only its id is checked. */
export interface Game { id: number, fields: Fields }

/** Returns the game that `jeuInfos.php` finds. Errors as {@link call}. */
export async function findGame (query: RequestOptions['query'], ctx: SsContext): Promise<Game | undefined> {
  const response = await call(ctx, 'jeuInfos', query)
  return response && toGame(response.jeu)
}

/** Lists the games on a system that a search finds, the oldest id first. Errors as {@link call}. */
export async function searchGames (term: string, systemId: number | string, ctx: SsContext): Promise<Game[]> {
  const response = await call(ctx, 'jeuRecherche', { recherche: term, systemeid: systemId })
  return toFieldsList(response?.jeux).flatMap((fields) => toGame(fields) ?? []).toSorted((a, b) => a.id - b.id)
}

/**
 * Reads the account's limits before the first lookup of a scan. An error is only logged, because a failing lookup
 * reports its own error.
 */
export async function readAccount (ctx: SsContext): Promise<void> {
  await ctx.memo('account', async () => {
    try {
      const response = await call(ctx, ACCOUNT)
      await storeSpeed(readFields(response ?? {}, 'ssuser') ?? {}, ctx)
    } catch (err) {
      ctx.signal.throwIfAborted()
      ctx.log.warn({ err }, 'the account could not be read')
    }
  })
}

export async function checkHealth (ctx: SsContext): Promise<boolean> {
  return Object.keys(await call(ctx, 'ssinfraInfos') ?? {}).length > 0
}

function toGame (value: unknown): Game | undefined {
  const id = isFields(value) ? readId(value, 'id') : undefined
  return isFields(value) && id !== undefined ? { id, fields: value } : undefined
}

/**
 * Sends a request and returns its response, or undefined for an unknown game.
 *
 * @throws CredentialsRefusedError · RateLimitedError when the day's requests are used up · ServiceDownError when the
 * service is closed or its response is unusable
 */
async function call (ctx: SsContext, name: string, query: RequestOptions['query'] = {}): Promise<Fields | undefined> {
  const answer = await ctx.http.request(`${API_URL}/${name}.php`, {
    query: { ...credentials(ctx), output: 'json', ...query }, accept: OWN_STATUSES, timeoutMs: TIMEOUT_MS
  })
  // Some responses are labelled as JSON but are a line of French.
  const text = new TextDecoder().decode(answer.bytes)
  const isLine = !text.trimStart().startsWith('{')
  if (isLine && /erreur de login/i.test(text)) throw toRefusalError(name, text)
  if (await isUnknown(name, answer, isLine ? text : '', ctx)) return undefined
  const response = readResponse(text)
  await reportAccountLimits(readFields(response, 'ssuser') ?? {}, name !== ACCOUNT, ctx)
  return response
}

/**
 * True if the response is a plain "not found".
 *
 * @throws like {@link call}
 */
async function isUnknown (name: string, { status }: HttpResponse, line: string, ctx: SsContext): Promise<boolean> {
  if (status === 403) throw toRefusalError(name, line)
  if (status === 426) {
    throw new CredentialsRefusedError('ScreenScraper no longer accepts requests of this version; update the server')
  }
  if (status === 401) {
    throw new ServiceDownError('ScreenScraper is closed to inactive members while its servers are busy; try again later')
  }
  if (status === 423) throw new ServiceDownError('ScreenScraper is closed; try again later')
  if (status === 430) {
    const waitMs = name === ACCOUNT ? undefined : await reportSpentAllowance(ctx)
    throw new RateLimitedError('ScreenScraper accepts no more requests of this account today', waitMs)
  }
  if (status === 431) {
    await ctx.memo('431', async () => {
      ctx.log.warn({}, 'the daily allowance for unrecognised games is used up; known games are still found')
    })
  }
  if (status === 400) ctx.log.warn({ name, line: line.trim().slice(0, QUOTED_CHARACTERS) }, 'the service did not understand a lookup')
  return status >= 400 || /non trouv/i.test(line)
}

/**
 * Creates the error for a refused login. It names the developer's credentials, or the member's only if the account
 * itself was requested and the response does not mention the developer.
 */
function toRefusalError (name: string, line: string): CredentialsRefusedError {
  const isMember = name === ACCOUNT && !/d[ée]veloppeur/i.test(line)
  return new CredentialsRefusedError(isMember
    ? 'ScreenScraper refused the login; check SCREENSCRAPER_USER and SCREENSCRAPER_PASSWORD'
    : 'ScreenScraper refused the developer id, its password or the login; check SCREENSCRAPER_DEV_ID first')
}

function readResponse (text: string): Fields {
  // A backslash without a valid escape sequence is part of a text.
  const repairedText = () => text.replace(BACKSLASH, (found) => found === '\\' ? '\\\\' : found)
  const answer = parseJson(text) ?? parseJson(repairedText())
  const response = isFields(answer) ? readFields(answer, 'response') : undefined
  if (response !== undefined) return response
  throw new ServiceDownError('ScreenScraper answered without the JSON object response; try again later')
}
