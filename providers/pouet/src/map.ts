import type { LinkMatch, Match } from '@svc/plugin-sdk'
import {
  type Fields, listMedia, readDate, readFields, readId, readNames, readNumeric, readText, readTexts, readUrl,
  toFieldsList, unique, youtubeVideoId
} from '@svc/plugin-sdk/readers'
import { completeDescription, describeProduction } from '@svc/plugin-sdk/scene'
import type { Production } from './api.ts'
import type { Metadata } from './metadata.ts'
import { listPartyLines } from './party.ts'

const SIZE = /^\d+[bk]$/
/** The lowest rank that the description shows. */
const LOWEST_RANK = 2000

/** Creates a match; extends Demozoo's match if Demozoo found the same production. */
export function toMatch (
  { id, name, fields }: Production, found: ReadonlyMap<string, Match | LinkMatch>, score?: number
): Match<Metadata, number> {
  const twin = findTwin(id, fields, found)
  const metadata = toMetadata(id, fields, readTexts(twin?.metadata ?? {}, 'download_urls'))
  const date = readDate(fields, 'releaseDate')
  const picture = (twin?.media ?? []).length > 0 ? undefined : readUrl(fields, 'screenshot')?.replace(/^http:/i, 'https:')
  return {
    id,
    score,
    name: twin?.name ?? name,
    summary: describe(metadata, listPartyLines(fields), date?.at, twin?.summary),
    genres: metadata.genres,
    companies: metadata.companies,
    // Pouët writes the middle of a month for a whole month.
    first_release_date: date?.precision === 'day' && new Date(date.at).getUTCDate() !== 15 ? date.at : undefined,
    youtube_video_id: metadata.youtube_video_id,
    ids: { csdb: readId(fields, 'csdb') },
    media: [...listMedia('cover', [picture]), ...listMedia('screenshot', [picture])],
    metadata
  }
}

/** Extends Demozoo's summary of the production with the opinion of Pouët's users, or writes a new summary. */
function describe (metadata: Metadata, parties: readonly string[], released?: number, known?: string): string {
  const { vote_avg: average, pouet_rank: rank = Infinity, pouet_cdc: cdc = 0, pouet_url: page } = metadata
  const marks = unique([average?.toString(), rank <= LOWEST_RANK ? `#${rank}` : undefined, cdc > 0 ? `CdC ${cdc}` : undefined])
  const facts = marks.map((mark, index) => index === 0 ? `Pouët ${mark}` : mark)
  if (known !== undefined) return completeDescription(known, { facts, pages: [page] })
  const video = metadata.youtube_video_id && `https://www.youtube.com/watch?v=${metadata.youtube_video_id}`
  return describeProduction({ ...metadata, released, parties, facts, pages: [video, page] })
}

function findTwin (id: number, fields: Fields, found: ReadonlyMap<string, Match | LinkMatch>): Match | undefined {
  const match = found.get('demozoo')
  if (match === undefined || !('id' in match)) return undefined
  return match.ids?.pouet === id || match.id === readId(fields, 'demozoo') ? match : undefined
}

function toMetadata (id: number, fields: Fields, known: readonly string[]): Metadata {
  const types = unique(readTypes(fields).map(toLabel))
  const groups = readNames(fields, 'groups')
  const links = toFieldsList(fields.downloadLinks)
  const isSoundtrack = (link: Fields) => /soundtrack/i.test(readText(link, 'type') ?? '')
  const urls = unique([...links.map((link) => readUrl(link, 'link')), readUrl(fields, 'download')])
  return {
    types,
    genres: types,
    groups,
    companies: groups,
    platforms: readNames(fields, 'platforms'),
    party: listPartyLines(fields)[0],
    invitation: readText(readFields(fields, 'invitation') ?? {}, 'name'),
    credits: toFieldsList(fields.credits).flatMap(toCredit),
    vote_avg: readNumeric(fields, 'voteavg'),
    pouet_rank: readId(fields, 'rank'),
    pouet_cdc: readId(fields, 'cdc') ?? 0,
    pouet_popularity: readNumeric(fields, 'popularity'),
    demozoo_id: readId(fields, 'demozoo'),
    pouet_url: `https://www.pouet.net/prod.php?which=${id}`,
    youtube_video_id: urls.map(youtubeVideoId).find((video) => video !== undefined),
    soundtrack_urls: unique(links.filter(isSoundtrack).map((link) => readUrl(link, 'link'))),
    download_urls: unique([...known, readUrl(fields, 'download'), ...urls, ...listPages(fields)])
  }
}

/** Reads types from a list or from comma-separated names. */
function readTypes (fields: Fields): string[] {
  const types = readTexts(fields, 'types')
  return types.length > 0 ? types : readTexts({ types: readText(fields, 'type')?.split(',') }, 'types')
}

function toLabel (type: string): string {
  if (SIZE.test(type)) return `${type.toUpperCase()} Intro`
  if (type === 'procedural graphics') return 'Graphics'
  return type.replace(/(?<!\S)\p{L}/gu, (letter) => letter.toUpperCase())
}

function toCredit (credit: Fields): Metadata['credits'] {
  const name = readText(readFields(credit, 'user') ?? {}, 'nickname')
  return name === undefined ? [] : [{ name, role: readText(credit, 'role') }]
}

/** Lists the production's pages at sites whose ids Pouët knows. */
function listPages (fields: Fields): string[] {
  const pages = [['csdb', 'https://csdb.dk/release/?id='], ['zxdemo', 'https://zxdemo.org/item.php?id=']] as const
  return pages.flatMap(([site, page]) => {
    const id = readId(fields, site)
    return id === undefined ? [] : [`${page}${id}`]
  })
}
