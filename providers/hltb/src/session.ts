import { type Fields, ServiceDownError, isFields, readNumber, readText } from '@svc/plugin-sdk'
import type { HltbContext } from './config.ts'

export const SITE_URL = 'https://howlongtobeat.com'
const TOKEN_TIMEOUT_MS = 10_000
/** Tried when the pages name no word. */
const FALLBACK_WORD = 'find'
/** Scripts beside the one that is known to name the search. */
const SCRIPT = /\bsrc="(\/_next\/static\/[\w./%~-]*\b_app-[\w-]+\.js)"/
const SEARCH_CALL = /\bfetch\(\s*["'`]\/api\/([\w-]+)\/?["'`][^)]{0,400}?\bmethod:\s*["'`]POST["'`]/

/** What every search must carry. It holds the server's public address, so it is neither kept nor logged. */
export interface Token { readonly value: string, readonly key: string, readonly keyValue: string }

/** Shared by all searches of a scan. */
interface Session { word?: string | undefined, token?: Promise<Token> | undefined }

const openSession = (ctx: HltbContext) => ctx.memo('session', async (): Promise<Session> => ({}))

/** Another configured word makes the one found forgotten. */
const wordKey = ({ config }: HltbContext) => `search word instead of ${config.searchWord}`

/** The word that the address of the search ends with: the one found last, else the configured one. */
export async function getWord (ctx: HltbContext): Promise<string> {
  const session = await openSession(ctx)
  if (session.word === undefined) {
    const found: unknown = await ctx.cache.get(wordKey(ctx))
    session.word = typeof found === 'string' ? found : ctx.config.searchWord
  }
  return session.word
}

/**
 * Looks on the site's pages for another word than the one that leads nowhere; those at the same time share it.
 *
 * @throws ServiceDownError when there is none
 */
export async function findWord (refused: string, ctx: HltbContext): Promise<void> {
  const session = await openSession(ctx)
  const word = await ctx.memo(`word after ${refused}`, async () => await readWord(ctx) ?? FALLBACK_WORD)
  if (word === refused) {
    throw new ServiceDownError(`HowLongToBeat has no search at /api/${refused} and names no other; ` +
      'set HLTB_SEARCH_WORD to the word that its page uses')
  }
  if (session.word === word) return
  session.word = word
  session.token = undefined
  await ctx.cache.set(wordKey(ctx), word)
}

async function readWord ({ http }: HltbContext): Promise<string | undefined> {
  const script = SCRIPT.exec(await http.text(`${SITE_URL}/`))?.[1]
  return script === undefined ? undefined : SEARCH_CALL.exec(await http.text(SITE_URL + script))?.[1]
}

/** The token of this scan; another one than the one that was refused. */
export async function getToken (ctx: HltbContext, refused?: Token): Promise<Token> {
  const session = await openSession(ctx)
  const known = session.token
  if (known !== undefined && await known !== refused) return await known
  if (session.token === undefined || session.token === known) {
    const token = requestToken(ctx)
    session.token = token
    token.catch(() => { if (session.token === token) session.token = undefined })
  }
  return await session.token
}

async function requestToken (ctx: HltbContext): Promise<Token> {
  const word = await getWord(ctx)
  const answer = await ctx.http.json(`${SITE_URL}/api/${word}/init`, {
    query: { t: Date.now() }, headers: { referer: SITE_URL }, timeoutMs: TOKEN_TIMEOUT_MS
  })
  const fields: Fields = isFields(answer) ? answer : {}
  const [value, key, keyValue] = ['token', 'hpKey', 'hpVal']
    .map((name) => readText(fields, name) ?? readNumber(fields, name)?.toString())
  if (value === undefined || key === undefined || keyValue === undefined) {
    throw new ServiceDownError('HowLongToBeat gave no complete token (token, hpKey, hpVal); its search may have changed')
  }
  return { value, key, keyValue }
}
