import { type Fields, isFields, readText, unique } from '@svc/plugin-sdk/readers'
import type { LaunchBoxContext } from './config.ts'
import { keyOf } from './dump.ts'
import type { Image } from './images.ts'
import { cutTags, foldTitle, listForms, moveArticle, toTitleKey } from './names.ts'

const IMAGES_URL = 'https://images.launchbox-app.com/'
/** The platform whose files have MAME's short names. */
const ARCADE = 'Arcade'
/** Maximum number of games with the same name that are checked for the platform. */
const CANDIDATES_MAX = 200

/** A game of the dump. */
export interface RemoteGame { readonly id: number, readonly fields: Fields, readonly images: readonly Image[] }

/** The search terms: a file, or words that somebody typed. */
export interface SearchTerms {
  readonly fileName: string
  /** Possible titles of the game, most reliable first. */
  readonly titles: readonly string[]
}

/** Returns the game with this id, or undefined when the dump has none. */
export async function getGame (id: number, { index }: LaunchBoxContext): Promise<RemoteGame | undefined> {
  const found = await index.getMany([keyOf.game(id), keyOf.images(id)])
  const fields = found.get(keyOf.game(id))?.find(isFields)
  return fields && { id, fields, images: (found.get(keyOf.images(id)) ?? []).flatMap(toImages) }
}

/** Finds the game under which the dump lists the file, else the game with a matching title. */
export async function findGame (
  { fileName, titles }: SearchTerms, platform: string, ctx: LaunchBoxContext
): Promise<RemoteGame | undefined> {
  const names = [fileName.toLowerCase(), ...listForms(fileName)]
  const fileKeys = names.map((name) => keyOf.file(name, platform))
  const mameKeys = platform === ARCADE ? names.map(keyOf.mame) : []
  const found = await ctx.index.getMany([...fileKeys, ...mameKeys])
  const namesOf = (keys: readonly string[]) => readTextsOf(keys, found).map(cutTags)
  return await findByTitles([...namesOf(fileKeys), ...namesOf(mameKeys), ...titles], platform, ctx)
}

/** Finds the platform's first game with one of these titles: by name, alternative name, or letters and digits alone. */
export async function findByTitles (
  titles: readonly string[], platform: string, ctx: LaunchBoxContext
): Promise<RemoteGame | undefined> {
  const keys = unique(titles.flatMap((title) => listTitleKeys(title, platform)))
  const found = await ctx.index.getMany(keys)
  const ids = readTextsOf(keys, found).slice(0, CANDIDATES_MAX)
  const games = await ctx.index.getMany(ids.map(keyOf.game))
  // Keys of alternative names do not contain the platform.
  const onPlatform = ids.flatMap((id) => {
    const fields = games.get(keyOf.game(id))?.filter(isFields).find((one) => readText(one, 'Platform') === platform)
    return fields === undefined ? [] : [{ id, name: readText(fields, 'Name') ?? '' }]
  })
  const candidates = onPlatform.map(({ name }) => ({ name, score: 1 }))
  ctx.explain({ by: 'search', term: titles.at(-1) ?? '', threshold: 1, count: onPlatform.length, candidates })
  const id = onPlatform[0]?.id
  return id === undefined ? undefined : await getGame(Number(id), ctx)
}

function listTitleKeys (title: string, platform: string): string[] {
  const asWritten = title.trim().toLowerCase()
  const key = toTitleKey(title)
  const forms = [...new Set([asWritten, key, moveArticle(key)])].filter((form) => form !== '')
  return [
    ...forms.map((form) => keyOf.name(form, platform)),
    ...forms.map(keyOf.alternate),
    ...forms.filter((form) => foldTitle(form) !== '').map((form) => keyOf.fold(form, platform))
  ]
}

function readTextsOf (keys: readonly string[], found: ReadonlyMap<string, readonly unknown[]>): string[] {
  return unique(keys.flatMap((key) => found.get(key) ?? []).filter(isText))
}

const isText = (value: unknown): value is string => typeof value === 'string'

function toImages (stored: unknown): Image[] {
  if (!Array.isArray(stored)) return []
  return stored.filter(Array.isArray).flatMap(([file, type, region]: unknown[]) => {
    if (!isText(file) || file === '' || !isText(type)) return []
    const url = IMAGES_URL + file.split('/').map(encodeURIComponent).join('/')
    return [{ url, type, ...isText(region) && { region } }]
  })
}
