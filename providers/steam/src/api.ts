import { RateLimitedError, ServiceDownError } from '@svc/plugin-sdk'
import { type Fields, isFields, readFields, readId, readText, toFieldsList } from '@svc/plugin-sdk/readers'
import type { SteamContext } from './config.ts'

const STORE_URL = 'https://store.steampowered.com/api'
const CAPSULES_URL = 'https://shared.akamai.steamstatic.com/store_item_assets/steam/apps'
const TIMEOUT_MS = 120_000
const CAPSULE_TIMEOUT_MS = 15_000
/**
 * The pause after a refusal. The store counts requests in windows of five minutes and does not state the remaining
 * time.
 */
const THROTTLED_MS = 60_000

/** The store's names of languages: https://partner.steamgames.com/doc/store/localization/languages */
const LANGUAGES: ReadonlyMap<string, string> = new Map(Object.entries({
  ar: 'arabic', da: 'danish', de: 'german', el: 'greek', en: 'english', es: 'spanish', fi: 'finnish', fr: 'french',
  it: 'italian', ja: 'japanese', ko: 'koreana', nl: 'dutch', no: 'norwegian', pl: 'polish', pt: 'portuguese',
  ru: 'russian', sv: 'swedish', zh: 'schinese'
}))
/** A country with a store of its own, by region. */
const COUNTRIES: ReadonlyMap<string, string> = new Map(Object.entries({
  au: 'au', br: 'br', ca: 'ca', cn: 'cn', de: 'de', eu: 'de', fr: 'fr', it: 'it', jp: 'jp', kr: 'kr', nl: 'nl', sp: 'es',
  uk: 'gb', us: 'us'
}))

/** An app in a search result. */
export interface Hit { readonly id: number, readonly name: string, readonly fields: Fields }

/** Searches the store for apps, at most ten and in no useful order; skips bundles and packages. */
export async function searchStore (term: string, ctx: SteamContext): Promise<Hit[]> {
  const answer = await requestStore('storesearch', { term }, ctx.config.country, ctx)
  return toFieldsList(answer.items).filter((item) => item.type === 'app').flatMap((fields) => {
    const id = readId(fields, 'id')
    const name = readText(fields, 'name')
    return id === undefined || name === undefined ? [] : [{ id, name, fields }]
  })
}

/** Returns the details of an app. Tries another country's store if the configured country does not have the app. */
export async function readApp (id: number, ctx: SteamContext): Promise<Fields | undefined> {
  const { config: { country }, preferences: { regions } } = ctx
  const otherCountry = regions.map(
    (region) => COUNTRIES.get(region)
  ).find((code) => code !== undefined && code !== country)
  return await readAppIn(country, id, ctx) ?? (
    otherCountry === undefined ? undefined : await readAppIn(otherCountry, id, ctx)
  )
}

async function readAppIn (country: string, id: number, ctx: SteamContext): Promise<Fields | undefined> {
  const answer = await requestStore('appdetails', { appids: id }, country, ctx)
  const byOwnId = readFields(answer, String(id))
  if (byOwnId !== undefined) return byOwnId.success === true ? readFields(byOwnId, 'data') : undefined
  // The store returns some apps under the id of one of their parts.
  const [onlyEntry, ...more] = toFieldsList(answer)
  const data = onlyEntry && readFields(onlyEntry, 'data')
  return data !== undefined && more.length === 0 && readId(data, 'steam_appid') === id ? data : undefined
}

/** Returns true if the store returns an app that has always existed. */
export async function checkStore (ctx: SteamContext): Promise<boolean> {
  const answer = await requestStore('appdetails', { appids: 220, filters: 'basic' }, ctx.config.country, ctx)
  return isFields(readFields(answer, '220')?.data)
}

/** Returns the URL of the app's upright picture; undefined if the app has none or the request fails. */
export async function findCapsule (id: number, { http, signal, log }: SteamContext): Promise<string | undefined> {
  const url = `${CAPSULES_URL}/${id}/library_600x900.jpg`
  try {
    const { status } = await http.request(url, { method: 'HEAD', accept: [403, 404, 410], timeoutMs: CAPSULE_TIMEOUT_MS })
    return status < 300 ? url : undefined
  } catch (err) {
    signal.throwIfAborted()
    log.debug({ err, id }, 'the upright picture of an app cannot be requested; its header is used')
    return undefined
  }
}

async function requestStore (call: string, query: object, country: string, ctx: SteamContext): Promise<Fields> {
  const language = ctx.preferences.languages.map((code) => LANGUAGES.get(code)).find((name) => name !== undefined)
  const answer = await ctx.http.json(`${STORE_URL}/${call}`, {
    query: { ...query, cc: country, l: language ?? 'english' }, timeoutMs: TIMEOUT_MS
  })
  if (isFields(answer)) return answer
  if (answer === null) throw new RateLimitedError(`The Steam store answered ${call} with null, because it received too many requests`, THROTTLED_MS)
  throw new ServiceDownError(`The Steam store answered ${call} with JSON that is not an object; try again later`)
}
