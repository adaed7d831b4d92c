import type { Match, Media } from '@svc/plugin-sdk'
import { type Fields, readFields, readId, readText, toFieldsList } from '@svc/plugin-sdk/readers'
import type { Game } from './api.ts'
import { toIgdbFields, toIgdbMedia } from './igdb.ts'
import type { Metadata } from './metadata.ts'

/** Provider keys by Hasheous' name in lower case, because the case differs between versions of Hasheous. */
const PROVIDER_KEYS: ReadonlyMap<string, string> = new Map([
  ['igdb', 'igdb'], ['thegamesdb', 'tgdb'], ['retroachievements', 'ra'], ['screenscraper', 'ss'],
  ['launchbox', 'launchbox'], ['mobygames', 'moby'], ['steamgriddb', 'sgdb'], ['steam', 'steam']
])
export const LINKS = [...PROVIDER_KEYS.values()]

/** Creates a match from the response to a lookup and, if known, the game's record at IGDB. */
export function toMatch (game: Game, igdbGame: Fields | undefined, baseUrl: string): Match<Metadata, number> {
  const igdb = igdbGame && toIgdbFields(igdbGame)
  return {
    id: game.id,
    ...igdb,
    name: igdb?.name ?? readText(game, 'name'),
    ids: readIds(game),
    media: [...igdbGame === undefined ? [] : toIgdbMedia(igdbGame), ...toLogoMedia(game, baseUrl)],
    metadata: toMetadata(game)
  }
}

/** Returns the ids of the game at other providers. Old rows hold a slug instead of a number; those are skipped. */
export function readIds (game: Fields): Record<string, number> {
  const ids: Record<string, number> = {}
  for (const entry of toFieldsList(game.metadata)) {
    const key = PROVIDER_KEYS.get((readText(entry, 'source') ?? '').toLowerCase())
    const id = readId(entry, 'immutableId')
    if (key !== undefined && id !== undefined) ids[key] ??= id
  }
  return ids
}

/** Returns the logo, which also serves as cover. Its link is relative to the server. */
function toLogoMedia (game: Fields, baseUrl: string): Media[] {
  const logos = toFieldsList(game.attributes).filter((attribute) => attribute.attributeName === 'Logo')
  const link = logos.map((logo) => readText(logo, 'link')).find((text) => text !== undefined)
  const url = link === undefined ? null : URL.parse(link, baseUrl)
  if (url === null || (url.protocol !== 'https:' && url.origin !== URL.parse(baseUrl)?.origin)) return []
  return [{ kind: 'cover', url: url.href }, { kind: 'logo', url: url.href }]
}

function toMetadata (game: Fields): Metadata {
  const sources = new Set(Object.keys(readFields(game, 'signatures') ?? {}).map((source) => source.toLowerCase()))
  return {
    tosec_match: sources.has('tosec'),
    mame_arcade_match: sources.has('mamearcade'),
    mame_mess_match: sources.has('mamemess'),
    nointro_match: sources.has('nointros'),
    redump_match: sources.has('redump'),
    mame_redump_match: sources.has('mameredump'),
    whdload_match: sources.has('whdload'),
    ra_match: sources.has('retroachievements'),
    fbneo_match: sources.has('fbneo'),
    puredos_match: sources.has('puredosdat')
  }
}
