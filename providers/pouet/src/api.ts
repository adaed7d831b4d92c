import { type RequestOptions, ServiceDownError } from '@svc/plugin-sdk'
import { type Fields, isFields, readFields, readId, readText, toFieldsList } from '@svc/plugin-sdk/readers'
import type { PouetContext } from './config.ts'

const API_URL = 'https://api.pouet.net/v1'
const SEARCH_URL = 'https://www.pouet.net/search.php'
const OPTIONS: RequestOptions = { headers: { accept: 'application/json' }, timeoutMs: 25_000, maxBytes: 1_000_000 }
const REDIRECTS = [301, 302, 303, 307, 308]
const PAGE_ID = /prod\.php\?(?:[^#\s]*&)?which=(\d{1,15})/i
/** Minimum length of a title in Pouët's search. */
const SHORTEST_TITLE = 3

/** A production as Pouët describes it. Only the fields named here are checked. */
export interface Production { readonly id: number, readonly name: string, readonly fields: Fields }

export async function readProduction (id: number, { http }: PouetContext): Promise<Production | undefined> {
  const answer = await http.json(`${API_URL}/prod/`, { ...OPTIONS, query: { id } })
  if (isFields(answer) && answer.error === true) return undefined
  const production = isFields(answer) ? toProduction(readFields(answer, 'prod') ?? {}) : undefined
  if (production?.id === id) return production
  throw new ServiceDownError(`Pouët answered without production ${id}; try again later`)
}

/** Finds the id of the production with these words in its title; undefined unless it is the only one. */
export async function findId (title: string, { http }: PouetContext): Promise<number | undefined> {
  if (Array.from(title).length < SHORTEST_TITLE) return undefined
  // The page redirects to a production if it is the only hit; otherwise it is a list for people.
  const { status, headers } = await http.request(SEARCH_URL, {
    ...OPTIONS, headers: { accept: '*/*' }, query: { what: title, type: 'prod' }, redirects: 0, accept: REDIRECTS
  })
  const id = REDIRECTS.includes(status) ? PAGE_ID.exec(headers.location ?? '')?.[1] : undefined
  return id === undefined ? undefined : Number(id)
}

/** Lists the productions with these words in their name, without links, credits and pictures. */
export async function searchProductions (words: string, { http }: PouetContext): Promise<Production[]> {
  const answer = await http.json(`${API_URL}/search/prod/`, { ...OPTIONS, query: { q: words } })
  if (isFields(answer) && answer.error === true) return []
  if (!isFields(answer) || answer.success !== true) {
    throw new ServiceDownError('Pouët answered a search without results; try again later')
  }
  return toFieldsList(answer.results).flatMap((fields) => toProduction(fields) ?? [])
}

function toProduction (fields: Fields): Production | undefined {
  const id = readId(fields, 'id')
  const name = readText(fields, 'name')
  return id === undefined || name === undefined ? undefined : { id, name, fields }
}
