import { type ProviderId, type RequestOptions, ServiceDownError } from '@svc/plugin-sdk'
import { type Fields, isFields, readId, readText, toFieldsList } from '@svc/plugin-sdk/readers'
import type { DemozooContext } from './config.ts'

const PRODUCTIONS_URL = 'https://demozoo.org/api/v1/productions/'
const OPTIONS: RequestOptions = { headers: { accept: 'application/json' }, timeoutMs: 25_000, maxBytes: 1_000_000 }

/** A production as Demozoo describes it. Only the fields named here are checked. */
export type Production = Fields & { readonly id: number, readonly title: string }

/**
 * Lists the productions with exactly this title in any case, on any platform if none is given. They lack pictures and
 * links.
 */
export async function listProductions (
  title: string, platform: readonly ProviderId[], { http }: DemozooContext
): Promise<Production[]> {
  const answer = await http.json(PRODUCTIONS_URL, { ...OPTIONS, query: { title, platform } })
  if (isFields(answer) && Array.isArray(answer.results)) return toFieldsList(answer.results).filter(isProduction)
  throw new ServiceDownError('Demozoo answered without a list of productions; try again later')
}

/** Returns the whole record of a production. */
export async function readProduction (id: number, { http }: DemozooContext): Promise<Production | undefined> {
  const response = await http.request(`${PRODUCTIONS_URL}${id}/`, { ...OPTIONS, accept: [404] })
  if (response.status === 404) return undefined
  const answer = response.json()
  if (isFields(answer) && isProduction(answer) && answer.id === id) return answer
  throw new ServiceDownError(`Demozoo answered without production ${id}; try again later`)
}

function isProduction (fields: Fields): fields is Production {
  return typeof fields.id === 'number' && readId(fields, 'id') !== undefined && readText(fields, 'title') !== undefined
}
