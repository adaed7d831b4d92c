import { api, call } from '../../api/client.ts'
import { isCancelled } from '../../api/failure.ts'
import type { components } from '../../api/schema.d.ts'
import { listCandidates, type SearchedGame } from '../rom-match/candidates.ts'

/** A cover that a provider offers. */
export interface CoverOption {
  url: string
  thumb: string
  /** The name of the game at the provider. */
  name: string
  /** The key of the provider; null for a choice of several covers of one game. */
  provider: string | null
  size: string
}

type CoverGroup = components['schemas']['CoverGroup']

/** Lists covers once each: those of the games first, then the choices of artwork providers. */
export function listCovers (games: readonly SearchedGame[], groups: readonly CoverGroup[]): CoverOption[] {
  const ofGames = listCandidates(games).flatMap(({ name, ids }) =>
    ids
      .filter(({ cover }) => cover !== '')
      .map(({ provider, cover }): CoverOption => ({ url: cover, thumb: cover, name, provider, size: '' }))
  )
  const ofGroups = groups.flatMap(({ name, resources }) =>
    resources
      .filter(({ type }) => type === 'static')
      .map(({ url, thumb, width, height }): CoverOption => ({
        url,
        thumb,
        name,
        provider: null,
        size: width > 0 ? `${width} × ${height}` : ''
      }))
  )
  return [
    ...new Map([...ofGroups, ...ofGames].toReversed().map((option) => [option.url, option])).values()
  ].toReversed()
}

/** Searches covers at all providers. One kind of search may fail. @throws the failure if both do */
export async function searchCovers (romId: number, term: string, signal: AbortSignal): Promise<CoverOption[]> {
  const [games, groups] = await Promise.allSettled([
    call(api.GET('/api/search/roms', { params: { query: { rom_id: romId, search_term: term } }, signal })),
    call(api.GET('/api/search/cover', { params: { query: { search_term: term } }, signal }))
  ])
  if (games.status === 'rejected' && (groups.status === 'rejected' || isCancelled(games.reason))) throw games.reason
  return listCovers(games.status === 'fulfilled' ? games.value : [], groups.status === 'fulfilled' ? groups.value : [])
}
