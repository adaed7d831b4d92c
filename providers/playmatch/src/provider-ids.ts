import type { LinkedIds } from '@svc/plugin-sdk'
import { type Fields, readId, readText, toFieldsList } from '@svc/plugin-sdk/readers'

/** Provider keys by Playmatch's names in lower case, for providers whose ids Playmatch knows. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['igdb', 'igdb'], ['mobygames', 'moby'], ['screenscraper', 'ss'], ['launchbox', 'launchbox'], ['steamgriddb', 'sgdb'],
  ['retroachievements', 'ra'], ['thegamesdb', 'tgdb']
])
export const LINKS = [...PROVIDERS.values()]

/** Playmatch's names of providers in suggestions. */
const SUGGESTED: ReadonlyMap<string, string> = new Map([
  ['igdb', 'IGDB'], ['moby', 'MOBYGAMES'], ['ss', 'SCREENSCRAPER'], ['ra', 'RETRO_ACHIEVEMENTS'], ['launchbox', 'LAUNCHBOX'],
  ['hasheous', 'HASHEOUS'], ['tgdb', 'TGDB'], ['flashpoint', 'FLASHPOINT'], ['hltb', 'HOWLONGTOBEAT'],
  ['libretro', 'LIBRETRO'], ['sgdb', 'STEAMGRIDDB'], ['gamelist', 'GAMELIST']
])

/** Reads the ids of a game at other providers; the first of several ids at one provider counts. */
export function readIds (game: Fields): Record<string, number> {
  const ids: Record<string, number> = {}
  for (const entry of toFieldsList(game.externalMetadata)) {
    const provider = PROVIDERS.get((readText(entry, 'providerName') ?? '').toLowerCase())
    const id = readId(entry, 'providerId')
    if (provider !== undefined && id !== undefined) ids[provider] ??= id
  }
  return ids
}

/** Converts the ids that a person chose to the form of a suggestion. */
export function toMappings (ids: LinkedIds): { provider: string, providerId: string }[] {
  return Object.entries(ids).flatMap(([key, id]) => {
    const provider = SUGGESTED.get(key)
    return provider === undefined || id === undefined ? [] : [{ provider, providerId: String(id) }]
  })
}
