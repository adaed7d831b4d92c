import { ServiceDownError } from '@svc/plugin-sdk'
import { type Fields, readText, toFieldsList } from '@svc/plugin-sdk/readers'
import type { FlashpointContext } from './config.ts'

const API_URL = 'https://db-api.unstable.life'
const TIMEOUT_MS = 60_000
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const ANY_UUID = new RegExp(UUID, 'i')
const ONLY_UUID = new RegExp(`^${UUID}$`, 'i')

/** A game as the archive describes it. Only the fields named here are checked. */
export type Game = Fields & { readonly id: string, readonly title: string }

/**
 * Lists the games with these words in a title, series or company, in no particular order.
 *
 * @throws ServiceDownError
 */
export async function listGames (ctx: FlashpointContext, words: string): Promise<Game[]> {
  // A comma separates terms that must all match.
  const term = words.replaceAll(',', ' ').replace(/\s+/g, ' ').trim()
  return term === '' ? [] : search(ctx, { smartSearch: term })
}

/** @throws ServiceDownError */
export async function readGame (ctx: FlashpointContext, id: string): Promise<Game | undefined> {
  if (!ONLY_UUID.test(id)) return undefined
  const lowerCaseId = id.toLowerCase()
  // The search also matches parts of an id.
  return (await search(ctx, { id: lowerCaseId })).find((game) => game.id.trim().toLowerCase() === lowerCaseId)
}

/** Finds the first id in a text. */
export function findId (text: string): string | undefined {
  return ANY_UUID.exec(text)?.[0]
}

/** Returns true if the archive lists a platform. */
export async function checkHealth ({ http }: FlashpointContext): Promise<boolean> {
  const platforms = await http.json(`${API_URL}/platforms`, { timeoutMs: TIMEOUT_MS })
  return Array.isArray(platforms) && platforms.length > 0
}

async function search ({ http }: FlashpointContext, criteria: Record<string, string>): Promise<Game[]> {
  const answer = await http.json(`${API_URL}/search`, { query: { ...criteria, filter: false }, timeoutMs: TIMEOUT_MS })
  if (!Array.isArray(answer)) throw new ServiceDownError('Flashpoint answered a search without a list of games; try again later')
  return toFieldsList(answer).filter(isGame)
}

function isGame (fields: Fields): fields is Game {
  return ONLY_UUID.test(readText(fields, 'id') ?? '') && readText(fields, 'title') !== undefined
}
