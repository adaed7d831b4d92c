import {
  type Fields, type Match, type Media, readDate, readFields, readId, readInteger, readNames, readText, readTexts,
  readUrl, toFieldsList, unique
} from '@svc/plugin-sdk'
import type { Production } from './api.ts'
import { readLinks } from './links.ts'
import type { Metadata } from './metadata.ts'
import { composeSummary } from './summary.ts'

const NAME_LENGTH = 350
const PARTY_LINES = 3

export function toMatch (production: Production, score?: number): Match<Metadata, number> {
  const placings = toFieldsList(production.competition_placings)
  const date = readDate(production, 'release_date')
  const day = date?.precision === 'day' ? date.at : undefined
  const metadata = toMetadata(production, placings, day)
  const year = date && new Date(date.at).getUTCFullYear()
  return {
    id: production.id,
    score,
    name: production.title.trim().slice(0, NAME_LENGTH),
    summary: composeSummary(metadata, year, unique(placings.map(toPartyLine)).slice(0, PARTY_LINES)),
    genres: metadata.genres,
    companies: metadata.companies,
    first_release_date: day,
    youtube_video_id: metadata.youtube_video_id,
    ids: { pouet: metadata.pouet_id, csdb: metadata.csdb_id },
    media: toMedia(production),
    metadata
  }
}

/** The names of those who made it: of groups, and of people. */
export function listAuthors (production: Production): string[] {
  return readNames(production, 'author_nicks')
}

function toMetadata (production: Production, placings: readonly Fields[], day: number | undefined): Metadata {
  const types = readNames(production, 'types')
  const groups = unique(toFieldsList(production.author_nicks)
    .filter((nick) => readFields(nick, 'releaser')?.is_group === true)
    .map((nick) => readText(nick, 'name')))
  const [placing] = placings
  const [release] = toFieldsList(production.release_parties)
  const party = (placing && readParty(placing)) ?? release ?? {}
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

function readParty (placing: Fields): Fields | undefined {
  return readFields(readFields(placing, 'competition') ?? {}, 'party')
}

/** Such as `Harbor Party 1993 / Amiga Demo #1`; a rank may also be `=9`, or a word such as `disq`. */
function toPartyLine (placing: Fields): string | undefined {
  const party = readText(readParty(placing) ?? {}, 'name')
  const competition = readText(readFields(placing, 'competition') ?? {}, 'name')
  const rank = readText(placing, 'ranking') ?? readInteger(placing, 'position')?.toString()
  const line = [party, competition].filter((name) => name !== undefined).join(' / ')
  if (line === '') return undefined
  if (rank === undefined) return line
  return /\d/.test(rank) ? `${line} #${rank}` : `${line} (${rank})`
}

function toCredit (credit: Fields): Metadata['credits'] {
  const name = readText(readFields(credit, 'nick') ?? {}, 'name')
  const role = readText(credit, 'category') ?? readText(credit, 'role')
  return name === undefined ? [] : [{ name, role }]
}

function toMedia (production: Production): Media[] {
  const urls = unique(toFieldsList(production.screenshots)
    .map((screenshot) => readUrl(screenshot, 'standard_url') ?? readUrl(screenshot, 'original_url')))
  return [
    ...urls.slice(0, 1).map((url): Media => ({ kind: 'cover', url })),
    ...urls.map((url): Media => ({ kind: 'screenshot', url }))
  ]
}
