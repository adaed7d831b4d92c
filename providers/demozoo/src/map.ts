import type { Match } from '@svc/plugin-sdk'
import {
  type Fields, listMedia, readDate, readFields, readId, readInteger, readNames, readText, readTexts, readUrl,
  toFieldsList, unique
} from '@svc/plugin-sdk/readers'
import { describeProduction } from '@svc/plugin-sdk/scene'
import type { Production } from './api.ts'
import { readLinks } from './links.ts'
import type { Metadata } from './metadata.ts'

/** Tags with facts that users would otherwise miss. */
const NOTES: ReadonlyMap<string, string> = new Map([['no-sound', 'without sound'], ['hidden-part', 'has a hidden part']])

export function toMatch (production: Production, score?: number): Match<Metadata, number> {
  const placings = toFieldsList(production.competition_placings)
  const date = readDate(production, 'release_date')
  const day = date?.precision === 'day' ? date.at : undefined
  const metadata = toMetadata(production, placings, day)
  const { tags, youtube_video_id: video, pouet_url: pouetUrl, csdb_url: csdbUrl } = metadata
  const pictures = unique(toFieldsList(production.screenshots)
    .map((screenshot) => readUrl(screenshot, 'standard_url') ?? readUrl(screenshot, 'original_url')))
  return {
    id: production.id,
    score,
    name: production.title.trim(),
    summary: describeProduction({
      ...metadata,
      released: date?.at,
      parties: unique(placings.map(toPartyLine)),
      facts: tags.flatMap((tag) => NOTES.get(tag) ?? []),
      pages: [video && `https://www.youtube.com/watch?v=${video}`, metadata.demozoo_url, pouetUrl, csdbUrl]
    }),
    genres: metadata.genres,
    companies: metadata.companies,
    first_release_date: day,
    youtube_video_id: video,
    ids: { pouet: metadata.pouet_id, csdb: metadata.csdb_id },
    media: [...listMedia('cover', pictures.slice(0, 1)), ...listMedia('screenshot', pictures)],
    metadata
  }
}

/** Lists the names of the authors: groups and people. */
export const listAuthors = (production: Production): string[] => readNames(production, 'author_nicks')

function toMetadata (production: Production, placings: readonly Fields[], day: number | undefined): Metadata {
  const types = readNames(production, 'types')
  const groups = unique(toFieldsList(production.author_nicks)
    .filter((nick) => readFields(nick, 'releaser')?.is_group === true)
    .map((nick) => readText(nick, 'name')))
  const [placing] = placings
  const party = (placing && readParty(placing)) ?? toFieldsList(production.release_parties)[0] ?? {}
  const tags = readTexts(production, 'tags')
  return {
    types,
    genres: types,
    groups,
    companies: groups.length > 0 ? groups : listAuthors(production),
    platforms: readNames(production, 'platforms'),
    party: readText(party, 'name'),
    party_id: readId(party, 'id'),
    party_line: placing && toPartyLine(placing),
    invitation: readNames(production, 'invitation_parties')[0],
    credits: toFieldsList(production.credits).flatMap(toCredit),
    tags,
    collections: tags,
    demozoo_url: readUrl(production, 'demozoo_url') ?? `https://demozoo.org/productions/${production.id}/`,
    ...readLinks(production),
    first_release_date: day === undefined ? undefined : day / 1000
  }
}

const readParty = (placing: Fields) => readFields(readFields(placing, 'competition') ?? {}, 'party')

/**
 * Renders the party, such as `Harbor Party 1993 / Amiga Demo #1`. A rank may also be `=9`, or a word such as `disq`.
 */
function toPartyLine (placing: Fields): string | undefined {
  const names = [readParty(placing), readFields(placing, 'competition')].map((fields) => readText(fields ?? {}, 'name'))
  const line = names.filter((name) => name !== undefined).join(' / ')
  const rank = readText(placing, 'ranking') ?? readInteger(placing, 'position')?.toString()
  if (line === '' || rank === undefined) return line || undefined
  return /\d/.test(rank) ? `${line} #${rank}` : `${line} (${rank})`
}

function toCredit (credit: Fields): Metadata['credits'] {
  const name = readText(readFields(credit, 'nick') ?? {}, 'name')
  return name === undefined ? [] : [{ name, role: readText(credit, 'category') ?? readText(credit, 'role') }]
}
