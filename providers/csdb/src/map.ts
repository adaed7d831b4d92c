import type { LinkMatch, Match, Media } from '@svc/plugin-sdk'
import { listMedia, parseDate, unique } from '@svc/plugin-sdk/readers'
import { completeDescription, describeProduction } from '@svc/plugin-sdk/scene'
import type { XmlElement } from '@svc/plugin-sdk/xml'
import type { Metadata } from './metadata.ts'
import { listCredits, listReleasers } from './people.ts'
import { listElements, textOf, urlOf } from './text.ts'

/** Creates a match. If Pouët or Demozoo found the same release, their name, summary and pictures are preserved. */
export function toMatch (
  id: number, release: XmlElement, found: ReadonlyMap<string, Match | LinkMatch>
): Match<Metadata, number> {
  const [year, month = '0', day = '0'] = ['Year', 'Month', 'Day'].map((part) => textOf(release, `Release${part}`))
  const date = parseDate(`${year}-${month}-${day}`)
  const metadata = toMetadata(id, release, date?.at)
  const twins = listTwins(id, found)
  const summary = twins.find((twin) => twin.summary !== undefined)?.summary
  return {
    id,
    name: twins.find((twin) => twin.name !== undefined)?.name ?? textOf(release, 'Name'),
    summary: describe(metadata, date?.at, summary),
    alternative_names: unique([textOf(release, 'AKA')]),
    genres: metadata.genres,
    companies: metadata.companies,
    first_release_date: date?.precision === 'day' ? date.at : undefined,
    media: twins.some(({ media = [] }) => media.length > 0) ? [] : toMedia(release),
    metadata
  }
}

/** Lists the matches of the same release at Pouët and Demozoo, the most complete first. */
function listTwins (id: number, found: ReadonlyMap<string, Match | LinkMatch>): Match[] {
  const [pouet, demozoo] = ['pouet', 'demozoo'].map((key) => {
    const match = found.get(key)
    return match !== undefined && 'id' in match ? match : undefined
  })
  const isTwin = (match: Match | undefined) => match?.ids?.csdb === id
  // Demozoo often has no CSDb id and only links to Pouët, which has one.
  const isSame = demozoo !== undefined && pouet !== undefined &&
    (demozoo.ids?.pouet === pouet.id || pouet.metadata?.demozoo_id === demozoo.id)
  return [pouet, demozoo].filter((match) => match !== undefined)
    .filter((match) => isTwin(match) || (match === demozoo && isSame && isTwin(pouet)))
}

function toMetadata (id: number, release: XmlElement, at: number | undefined): Metadata {
  const { groups, people } = listReleasers(release)
  const types = unique([textOf(release, 'Type')])
  const party = textOf(release, 'ReleasedAt', 'Event', 'Name')
  const rating = Number(textOf(release, 'Rating') ?? Number.NaN)
  const page = `https://csdb.dk/release/?id=${id}`
  return {
    types,
    genres: types,
    groups,
    companies: groups.length > 0 ? groups : people,
    platforms: ['C64'],
    credits: listCredits(release),
    party,
    party_line: toPartyLine(party, release),
    rating: rating >= 0 && rating <= 10 ? rating : undefined,
    csdb_url: page,
    download_urls: unique([page, ...listElements(release, 'DownloadLinks', 'DownloadLink')
      .filter((link) => /^ok$/i.test(textOf(link, 'Status') ?? ''))
      .map((link) => urlOf(link, 'Link'))]),
    first_release_date: at === undefined ? undefined : at / 1000
  }
}

/** Renders the party, such as `Harbor Party 1993 / C64 Demo #2`. */
function toPartyLine (party: string | undefined, release: XmlElement): string | undefined {
  const place = textOf(release, 'Achievement', 'Place')
  const line = unique([party, textOf(release, 'Achievement', 'Compo')]).join(' / ')
  if (line === '') return undefined
  return place === undefined ? line : `${line} #${place}`
}

function describe (metadata: Metadata, released?: number, known?: string): string {
  const { types, companies, party_line: party, csdb_url: page } = metadata
  if (known !== undefined) return completeDescription(known, { pages: [page] })
  return describeProduction({ types, companies, released, parties: unique([party]), pages: [page] })
}

function toMedia (release: XmlElement): Media[] {
  const url = urlOf(release, 'ScreenShot')
  return [...listMedia('cover', [url]), ...listMedia('screenshot', [url])]
}
