import {
  type Fields, RateLimitedError, ServiceDownError, isFields, readFields, readId, readText, toFieldsList
} from '@svc/plugin-sdk'
import type { SteamContext } from './config.ts'

const STORE_URL = 'https://store.steampowered.com/api'
const CAPSULES_URL = 'https://shared.akamai.steamstatic.com/store_item_assets/steam/apps'
const TIMEOUT_MS = 120_000
const CAPSULE_TIMEOUT_MS = 15_000
/** The store counts requests in windows of five minutes, and says nothing of the time left. */
const THROTTLED_MS = 60_000

/** The store's names of languages: https://partner.steamgames.com/doc/store/localization/languages */
const LANGUAGES: ReadonlyMap<string, string> = new Map(Object.entries({
  ar: 'arabic', da: 'danish', de: 'german', el: 'greek', en: 'english', es: 'spanish', fi: 'finnish', fr: 'french',
  it: 'italian', ja: 'japanese', ko: 'koreana', nl: 'dutch', no: 'norwegian', pl: 'polish', pt: 'portuguese',
  ru: 'russian', sv: 'swedish', zh: 'schinese'
}))
/** A country of each region that has a store of its own. */
const COUNTRIES: ReadonlyMap<string, string> = new Map(Object.entries({
  au: 'au', br: 'br', ca: 'ca', cn: 'cn', de: 'de', eu: 'de', fr: 'fr', it: 'it', jp: 'jp', kr: 'kr', nl: 'nl', sp: 'es',
  uk: 'gb', us: 'us'
}))

/** An app that a search found. */
export interface Hit { readonly id: number, readonly name: string, readonly fields: Fields }

/** What the store calls an app, at most ten and in no useful order; bundles and packages are left out. */
export async function searchStore (term: string, ctx: SteamContext): Promise<Hit[]> {
  const answer = await askStore('storesearch', { term }, ctx.config.country, ctx)
  return toFieldsList(answer.items).filter((item) => item.type === 'app').flatMap((fields) => {
    const id = readId(fields, 'id')
    const name = readText(fields, 'name')
    return id === undefined || name === undefined ? [] : [{ id, name, fields }]
  })
}

/** The details of an app; one that a country's store does not have is asked for in another country's. */
export async function readApp (id: number, ctx: SteamContext): Promise<Fields | undefined> {
  const { config: { country }, preferences: { regions } } = ctx
  const other = regions.map((region) => COUNTRIES.get(region)).find((code) => code !== undefined && code !== country)
  return await readAppIn(country, id, ctx) ?? (other === undefined ? undefined : await readAppIn(other, id, ctx))
}

async function readAppIn (country: string, id: number, ctx: SteamContext): Promise<Fields | undefined> {
  const answer = await askStore('appdetails', { appids: id }, country, ctx)
  const own = readFields(answer, String(id))
  if (own !== undefined) return own.success === true ? readFields(own, 'data') : undefined
  // Some apps are answered under the id of one of their parts.
  const [sole, ...more] = toFieldsList(answer)
  const data = sole && readFields(sole, 'data')
  return data !== undefined && more.length === 0 && readId(data, 'steam_appid') === id ? data : undefined
}

/** Whether the store answers about an app that it has always had. */
export async function checkStore (ctx: SteamContext): Promise<boolean> {
  const answer = await askStore('appdetails', { appids: 220, filters: 'basic' }, ctx.config.country, ctx)
  return isFields(readFields(answer, '220')?.data)
}

/** The upright picture of the library; undefined for an app that has none, or when it cannot be known. */
export async function findCapsule (id: number, { http, signal, log }: SteamContext): Promise<string | undefined> {
  const url = `${CAPSULES_URL}/${id}/library_600x900.jpg`
  try {
    const { status } = await http.request(url, { method: 'HEAD', accept: [403, 404, 410], timeoutMs: CAPSULE_TIMEOUT_MS })
    return status < 300 ? url : undefined
  } catch (err) {
    signal.throwIfAborted()
    log.debug({ err, id }, 'no upright picture of an app, its header is taken')
    return undefined
  }
}

async function askStore (call: string, query: object, country: string, ctx: SteamContext): Promise<Fields> {
  const language = ctx.preferences.languages.map((code) => LANGUAGES.get(code)).find((name) => name !== undefined)
  const answer = await ctx.http.json(`${STORE_URL}/${call}`, {
    query: { ...query, cc: country, l: language ?? 'english' }, timeoutMs: TIMEOUT_MS
  })
  if (isFields(answer)) return answer
  if (answer === null) throw new RateLimitedError(`The Steam store answered ${call} with null, because it is asked too often`, THROTTLED_MS)
  throw new ServiceDownError(`The Steam store answered ${call} with something that is no object; try again later`)
}
