import { ServiceDownError } from '@svc/plugin-sdk'
import { isFields, readNumber, readText } from '@svc/plugin-sdk/readers'
import type { HltbContext } from './config.ts'

export const SITE_URL = 'https://howlongtobeat.com'
/** The URL of the script that names the search. */
const SCRIPT = /\bsrc="(\/_next\/static\/[\w./%~-]*\b_app-[\w-]+\.js)"/
const SEARCH_CALL = /\bfetch\(\s*["'`]\/api\/([\w-]+)\/?["'`][^)]{0,400}?\bmethod:\s*["'`]POST["'`]/

export type Search = Awaited<ReturnType<typeof openSearch>>

/**
 * Cache key of the last word found, which replaces the configured word. A change of the configured word invalidates
 * it.
 */
const wordKey = ({ config }: HltbContext) => `search word instead of ${config.searchWord}`

/** Returns the state that all searches of a scan share: the last part of the URL, and the number of refused tokens. */
export const openSearch = (ctx: HltbContext) => ctx.memo('search', async () => {
  const found = await ctx.cache.get(wordKey(ctx))
  return { word: typeof found === 'string' ? found : ctx.config.searchWord, refusals: 0 }
})

/**
 * Looks on the site's pages for another word after a 404.
 *
 * @throws ServiceDownError when there is none
 */
export async function moveSearch (search: Search, refused: string, ctx: HltbContext): Promise<void> {
  const word = await ctx.memo(`word after ${refused}`, async () => await readWord(ctx) ?? 'find')
  if (word === refused) {
    throw new ServiceDownError(`HowLongToBeat has no search at /api/${refused}, and its pages name no other one; ` +
      'set HLTB_SEARCH_WORD to the word that its page uses')
  }
  search.word = word
  await ctx.cache.set(wordKey(ctx), word)
}

async function readWord ({ http }: HltbContext): Promise<string | undefined> {
  const script = SCRIPT.exec(await http.text(`${SITE_URL}/`))?.[1]
  return script === undefined ? undefined : SEARCH_CALL.exec(await http.text(SITE_URL + script))?.[1]
}

/**
 * Returns the headers that every search must carry. They hold the server's public address, so they are never stored
 * or logged.
 */
export const getToken = ({ word, refusals }: Search, ctx: HltbContext) => ctx.memo(`token ${word} ${refusals}`, async () => {
  const request = { query: { t: Date.now() }, headers: { referer: SITE_URL }, timeoutMs: 10_000 }
  const answer = await ctx.http.json(`${SITE_URL}/api/${word}/init`, request)
  const fields = isFields(answer) ? answer : {}
  const read = (name: string) => readText(fields, name) ?? readNumber(fields, name)?.toString()
  const [token, key, value] = ['token', 'hpKey', 'hpVal'].map(read)
  if (token === undefined || key === undefined || value === undefined) {
    throw new ServiceDownError('HowLongToBeat gave no complete token (token, hpKey, hpVal); its search may have changed')
  }
  return { 'x-auth-token': token, 'x-hp-key': key, 'x-hp-val': value }
})
